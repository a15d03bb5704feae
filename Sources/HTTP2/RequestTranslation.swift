internal import ByteText
import Glibc
import Reactor

/// The translation of a request's field section (RFC 9113, section 8.3.1) into an HTTP/1.1 head, which then goes
/// through the same parser and code as every other request.
///
/// Every request that RFC 9113 calls malformed is refused here, without reliance on the checks of nghttp2. Otherwise a
/// line end within a field could end a line of the HTTP/1.1 head and begin another request. Errors that are also
/// possible in an HTTP/1.1 request (in the host, the target or their length) are left to the HTTP/1.1 parser, so that
/// the gateway responds to them in the same way in both protocols.
struct RequestTranslation {
  enum Refusal: Error, Equatable {
    /// The request is malformed: the stream is reset with PROTOCOL_ERROR (RFC 9113, section 8.1.1).
    case malformed(String)
    /// The request exceeds the limits of an HTTP/1.1 head: the response is 431.
    case tooLarge
  }

  /// The number of bytes that stay free in the head for the framing field and the empty line.
  private static let framingRoom = 64

  private(set) var isHeadRequest = false
  private(set) var contentLength: Int?

  private var method: Range<Int>?
  private var scheme: Range<Int>?
  private var authority: Range<Int>?
  private var path: Range<Int>?
  private var host: Range<Int>?
  private var hasCookies = false

  /// Validates the fields in `block`. Writes the HTTP/1.1 head, without framing field and empty line, into the empty
  /// buffer `head`. Called once for each value.
  // Not an initializer, because the parameters of initializers are retained for each call.
  mutating func translate(_ block: FieldBlock, to head: Buffer) throws(Refusal) {
    guard !block.isTooLarge else { throw .tooLarge }
    guard !block.isEmpty else { throw .malformed("no fields") }
    let fields = block.fields
    try block.buffer.withSpan { (bytes: Span<UInt8>) throws(Refusal) in
      try RequestTranslation.checkControls(bytes)
      try validate(fields.span, bytes)
      try write(fields.span, bytes, to: head)
    }
  }

  /// True if a section that exceeds the limits has the method HEAD: the response has no body then (RFC 9110, section 9.3.2).
  static func isHeadRequest(_ block: FieldBlock) -> Bool {
    block.buffer.withSpan { bytes in
      block.fields.contains { isEqual(bytes, $0.name, ":method") && isEqual(bytes, $0.value, "HEAD") }
    }
  }

  /// The maximum number of bytes of the trailers of a request, as a section of HTTP/1.1: the same as that of the proxy. No
  /// flow control applies to them, so each stream may occupy this much memory until its request has been read.
  private static let trailerLimit = 4 * 1024
  /// The maximum number of trailers of a request: the same as that of the proxy.
  private static let trailerCountLimit = 100

  /// Validates trailers and returns them as lines of HTTP/1.1, for the trailer section of a chunked body. The proxy
  /// chooses those that it forwards.
  ///
  /// Throws `tooLarge` for a section that the proxy would refuse.
  static func trailers(_ block: FieldBlock) throws(Refusal) -> [UInt8] {
    try block.buffer.withSpan { (bytes: Span<UInt8>) throws(Refusal) in
      try checkControls(bytes)
      guard block.fields.count <= trailerCountLimit else { throw .tooLarge }
      var lines: [UInt8] = []
      for field in block.fields {
        try RequestTranslation.checkRegularField(field, bytes)
        // Four bytes for this line's colon, space and end, two for the empty line after the last one.
        guard lines.count + field.name.count + field.value.count + 6 <= trailerLimit else { throw .tooLarge }
        for index in field.name { lines.append(bytes[index]) }
        lines += [0x3a, 0x20]
        for index in field.value { lines.append(bytes[index]) }
        lines += [0x0d, 0x0a]
      }
      return lines
    }
  }

  // MARK: Validation

  private mutating func validate(_ fields: Span<FieldBlock.Field>, _ bytes: Span<UInt8>) throws(Refusal) {
    var hasRegularField = false
    for index in fields.indices {
      let field = fields[index]
      if !field.name.isEmpty, bytes[field.name.lowerBound] == 0x3a {
        guard !hasRegularField else { throw .malformed("a pseudo-header behind a field") }
        try readPseudoHeader(field, bytes)
      } else {
        hasRegularField = true
        try readRegularField(field, bytes)
      }
    }
    guard let method else { throw .malformed("no :method") }
    if RequestTranslation.isEqual(bytes, method, "CONNECT") {
      guard scheme == nil, path == nil, authority != nil else { throw .malformed("an invalid CONNECT") }
    } else {
      guard let scheme, let path else { throw .malformed("no :scheme or no :path") }
      guard RequestTranslation.isEqual(bytes, scheme, "http") || RequestTranslation.isEqual(bytes, scheme, "https")
      else {
        throw .malformed("a :scheme other than http and https")
      }
      try RequestTranslation.checkPath(bytes, path)
    }
    isHeadRequest = RequestTranslation.isEqual(bytes, method, "HEAD")
    if let authority, let host, !bytes.extracting(authority).isEqualIgnoringCase(to: bytes.extracting(host)) {
      throw .malformed("a Host field that differs from :authority")
    }
  }

  private mutating func readPseudoHeader(_ field: FieldBlock.Field, _ bytes: Span<UInt8>) throws(Refusal) {
    let value = field.value
    guard !value.isEmpty else { throw .malformed("an empty pseudo-header") }
    if RequestTranslation.isEqual(bytes, field.name, ":method") {
      for index in value where !bytes[index].isToken { throw .malformed("an invalid :method") }
      try RequestTranslation.setOnce(&method, value)
    } else if RequestTranslation.isEqual(bytes, field.name, ":scheme") {
      try RequestTranslation.setOnce(&scheme, value)
    } else if RequestTranslation.isEqual(bytes, field.name, ":authority") {
      try RequestTranslation.checkBlanks(bytes.extracting(value))
      try RequestTranslation.setOnce(&authority, value)
    } else if RequestTranslation.isEqual(bytes, field.name, ":path") {
      try RequestTranslation.checkBlanks(bytes.extracting(value))
      try RequestTranslation.setOnce(&path, value)
    } else {
      throw .malformed("an unknown pseudo-header")
    }
  }

  private static func setOnce(_ pseudoHeader: inout Range<Int>?, _ value: Range<Int>) throws(Refusal) {
    guard pseudoHeader == nil else { throw .malformed("a repeated pseudo-header") }
    pseudoHeader = value
  }

  private mutating func readRegularField(_ field: FieldBlock.Field, _ bytes: Span<UInt8>) throws(Refusal) {
    try RequestTranslation.checkRegularField(field, bytes)
    if RequestTranslation.isEqual(bytes, field.name, "host") {
      guard host == nil else { throw .malformed("more than one Host field") }
      host = field.value
    } else if RequestTranslation.isEqual(bytes, field.name, "content-length") {
      guard contentLength == nil else { throw .malformed("more than one content-length") }
      contentLength = try RequestTranslation.parseContentLength(bytes, field.value)
    } else if RequestTranslation.isEqual(bytes, field.name, "cookie") {
      hasCookies = true
    }
  }

  /// Checks all bytes of a block of received fields: names and values, one after the other. No name or value may have a
  /// control character, except for tabs in values; `checkRegularField` refuses tabs in names.
  private static func checkControls(_ bytes: Span<UInt8>) throws(Refusal) {
    guard hasNoControlsExceptTabs(bytes) else { throw .malformed("a control character in a field") }
  }

  /// Checks the rules for a field that is not a pseudo-header, in the head or in the trailers (RFC 9113, sections 8.2.1
  /// and 8.2.2), except for those of `checkControls`.
  private static func checkRegularField(_ field: FieldBlock.Field, _ bytes: Span<UInt8>) throws(Refusal) {
    guard !field.name.isEmpty else { throw .malformed("a field without a name") }
    guard isLowercaseToken(bytes.extracting(field.name)) else { throw .malformed("an invalid field name") }
    if let first = field.value.first, let last = field.value.last, bytes[first].isBlank || bytes[last].isBlank {
      throw .malformed("white space around a field value")
    }
    // These fields concern an HTTP/1.1 connection (RFC 9113, section 8.2.2). `upgrade` is among them, so a client
    // cannot switch to h2c or WebSocket this way.
    let isConnectionSpecific =
      isEqual(bytes, field.name, "connection") || isEqual(bytes, field.name, "proxy-connection")
      || isEqual(bytes, field.name, "keep-alive") || isEqual(bytes, field.name, "transfer-encoding")
      || isEqual(bytes, field.name, "upgrade")
    if isConnectionSpecific { throw .malformed("a connection-specific field") }
    if isEqual(bytes, field.name, "te"), !isEqual(bytes, field.value, "trailers") {
      throw .malformed("a te field other than `trailers`")
    }
  }

  /// Accepts only a path that begins with a slash, or `*`. An absolute URI would name a second authority.
  private static func checkPath(_ bytes: Span<UInt8>, _ path: Range<Int>) throws(Refusal) {
    let isAsterisk = path.count == 1 && bytes[path.lowerBound] == 0x2a
    guard bytes[path.lowerBound] == 0x2f || isAsterisk else { throw .malformed("a :path without a slash") }
  }

  private static func parseContentLength(_ bytes: Span<UInt8>, _ value: Range<Int>) throws(Refusal) -> Int {
    // A number of 18 digits fits into 63 bits.
    guard !value.isEmpty, value.count <= 18 else { throw .malformed("an invalid content-length") }
    var length = 0
    for index in value {
      guard bytes[index].isDigit else { throw .malformed("an invalid content-length") }
      length = length * 10 + Int(bytes[index] &- 0x30)
    }
    return length
  }

  // MARK: Writing

  private func write(_ fields: Span<FieldBlock.Field>, _ bytes: Span<UInt8>, to head: Buffer) throws(Refusal) {
    guard let method, let target = path ?? authority else { return }
    try RequestTranslation.checkRoom(for: method.count + target.count + 12, in: head)
    head.append(bytes, in: method)
    head.append(0x20)
    head.append(bytes, in: target)
    head.append(" HTTP/1.1\r\n")
    if let host = authority ?? host {
      try RequestTranslation.checkRoom(for: host.count + 8, in: head)
      head.append("host: ")
      head.append(bytes, in: host)
      head.append("\r\n")
    }
    for index in fields.indices {
      let field = fields[index]
      let isWrittenSeparately =
        bytes[field.name.lowerBound] == 0x3a || RequestTranslation.isEqual(bytes, field.name, "host")
        || RequestTranslation.isEqual(bytes, field.name, "content-length")
        || hasCookies && RequestTranslation.isEqual(bytes, field.name, "cookie")
      if isWrittenSeparately { continue }
      try RequestTranslation.checkRoom(for: field.name.count + field.value.count + 4, in: head)
      head.appendField(bytes, name: field.name, value: field.value)
    }
    if hasCookies { try writeCookies(fields, bytes, to: head) }
  }

  /// Writes all cookies in one field: HTTP/2 clients may send them in several fields, HTTP/1.1 allows only one (RFC
  /// 9113, section 8.2.3).
  private func writeCookies(
    _ fields: Span<FieldBlock.Field>, _ bytes: Span<UInt8>, to head: Buffer
  ) throws(Refusal) {
    var isFirst = true
    for index in fields.indices where RequestTranslation.isEqual(bytes, fields[index].name, "cookie") {
      let value = fields[index].value
      try RequestTranslation.checkRoom(for: value.count + 10, in: head)
      head.append(isFirst ? "cookie: " : "; ")
      head.append(bytes, in: value)
      isFirst = false
    }
    head.append("\r\n")
  }

  /// Throws if the head would be too long with `count` more bytes.
  private static func checkRoom(for count: Int, in head: Buffer) throws(Refusal) {
    guard head.count + count + framingRoom <= Buffer.readSize else { throw .tooLarge }
  }

  // MARK: Bytes

  // Inlined: the length of `text` is then a constant, and the compiler replaces `memcmp` with a few comparisons of words.
  @inline(__always)
  private static func isEqual(_ bytes: Span<UInt8>, _ range: Range<Int>, _ text: StaticString) -> Bool {
    guard range.count == text.utf8CodeUnitCount else { return false }
    // Sound: `text` has as many bytes as `range`, which is a part of `bytes`.
    return unsafe bytes.extracting(range).withUnsafeBufferPointer { found in
      guard let start = found.baseAddress else { return false }
      return unsafe memcmp(start, text.utf8Start, text.utf8CodeUnitCount) == 0
    }
  }

  /// Returns true if `bytes` contains no control characters except tabs.
  // The loop has no early exit, so that the compiler can vectorise it.
  private static func hasNoControlsExceptTabs(_ bytes: Span<UInt8>) -> Bool {
    var forbidden: UInt8 = 0
    var index = 0
    while index < bytes.count {
      let byte = bytes[index]
      forbidden |= byte < 0x20 && byte != 0x09 || byte == 0x7f ? 1 : 0
      index &+= 1
    }
    return forbidden == 0
  }

  /// Throws if `value`, which has no control characters except tabs, contains a space or a tab. Reads eight
  /// bytes at a time.
  private static func checkBlanks(_ value: Span<UInt8>) throws(Refusal) {
    var index = 0
    while index <= value.count &- 8 {
      let word = value.word(at: index)
      let blanks = word.approximatePositions(of: 0x20) | word.approximatePositions(of: 0x09)
      guard blanks == 0 else { throw .malformed("white space in a pseudo-header") }
      index &+= 8
    }
    while index < value.count {
      guard !value[index].isBlank else { throw .malformed("white space in a pseudo-header") }
      index &+= 1
    }
  }

  /// True for a token without capital letters. Reads eight bytes at a time.
  private static func isLowercaseToken(_ name: Span<UInt8>) -> Bool {
    var index = 0
    while index <= name.count &- 8 {
      let word = name.word(at: index)
      // Bit 0x20 is set in lower-case letters, digits and hyphens. All other characters are examined one by one.
      guard word.positionsOutsideFieldName == 0, ~word & 0x2020_2020_2020_2020 == 0 else { break }
      index &+= 8
    }
    while index < name.count {
      guard name[index].isLowercaseToken else { return false }
      index &+= 1
    }
    return true
  }
}
