internal import ByteText

/// A parser of request heads (RFC 9112, sections 3, 5 and 6.3). It rejects every head that two servers could read
/// differently.
public enum RequestHeadParser {
  /// The maximum length of a method in bytes.
  private static let methodLimit = 32
  /// The maximum length of a host with a port, in bytes: at most 255 for a DNS name, and 6 for the port and its colon.
  private static let hostLimit = 261

  /// Parses a complete head, whose length `HeadScanner` has found or the HTTP/2 stream knows, and fills `index` with its
  /// fields. A thrown error contains the status of the response and the reason.
  public static func parse(
    _ bytes: Span<UInt8>, length: Int, limits: HeadLimits = .standard, into index: HeadIndex
  ) throws(MessageError) -> RequestHead {
    index.clear()
    // RFC 9112, section 2.2: one empty line in front of the request line is ignored.
    let start = bytes[0] == .carriageReturn && bytes[1] == .lineFeed ? 2 : 0
    let line = try RequestLine(bytes, from: start, limits)
    guard length <= limits.bytes else { throw .headTooLong(limits) }
    try index.parseFields(bytes, from: line.end, to: length, limit: limits.fields)
    let options = try index.readConnectionOptions(bytes)
    let host = try readHost(bytes, index, line)
    let keepsAlive = !options.close && (line.minorVersion == 1 || options.keepAlive)
    let body = try readFraming(bytes, index, line.minorVersion)
    let upgrade = options.upgrade && line.minorVersion == 1 ? index.onlyValue(of: .upgrade) : nil

    let target = line.target
    var pathEnd = target.lowerBound
    while pathEnd < target.upperBound, bytes[pathEnd] != 0x3f { pathEnd += 1 }
    return RequestHead(
      method: line.method, methodRange: line.methodRange, target: target, pathEnd: pathEnd, isAsterisk: line.isAsterisk,
      hasUnencodedTarget: line.hasUnencodedTarget, host: host, minorVersion: line.minorVersion, length: length,
      body: body, keepsAlive: keepsAlive,
      expectsContinue: try readExpectation(bytes, index, line.minorVersion, body), upgrade: upgrade)
  }

  /// Fills `index` again with the fields of `head`, which `parse` has accepted, after other messages have used the index.
  ///
  /// No limit of a policy applies, because `parse` has applied those at the time of the request; a reload may have lowered
  /// them since. A thrown error shows that `bytes` are not those of `head`; `index` is then incomplete.
  public static func restoreFields(
    of head: RequestHead, _ bytes: Span<UInt8>, into index: HeadIndex
  ) throws(MessageError) {
    _ = try parse(bytes, length: head.length, limits: unlimited, into: index)
  }

  private static let unlimited = {
    var limits = HeadLimits(bytes: .max, fields: HeadIndex.fieldLimit, target: .max)
    limits.acceptsUnencodedTargets = true
    return limits
  }()

  /// Returns the error for an incomplete head that already has `limits.bytes` bytes or fills the receive buffer. The
  /// status is 400 for an invalid request line, 414 if the target is too long or incomplete, otherwise 431.
  public static func errorForOverlongHead(_ bytes: Span<UInt8>, _ limits: HeadLimits) -> MessageError {
    let start = bytes.count > 1 && bytes[0] == .carriageReturn && bytes[1] == .lineFeed ? 2 : 0
    var position = start
    while position < bytes.count, bytes[position] != .lineFeed, bytes[position] != .space { position += 1 }
    let targetStart = position + 1
    guard position < bytes.count, bytes[position] == .space, position - start <= methodLimit else {
      return .malformed("an invalid request line")
    }
    position = targetStart
    while position < bytes.count, bytes[position] > 0x20 { position += 1 }
    let isTargetTooLong = position - targetStart > limits.target || position == bytes.count
    return isTargetTooLong ? .targetTooLong(limits) : .headTooLong(limits)
  }

  private static func readHost(
    _ bytes: Span<UInt8>, _ index: HeadIndex, _ line: RequestLine
  ) throws(MessageError) -> Range<Int>? {
    var found: Range<Int>?
    for number in 0..<index.count where index[number].known == .host {
      guard found == nil else { throw .malformed("more than one Host field") }
      found = index[number].value
    }
    if let found {
      try checkHost(bytes, found)
    } else if line.minorVersion == 1 {
      throw .malformed("no Host field")
    }
    return line.authority ?? found
  }

  /// Checks that the bytes have the form `uri-host [ ":" port ]` (RFC 9110, section 7.2), without userinfo, path and
  /// white space.
  static func checkHost(_ bytes: Span<UInt8>, _ range: Range<Int>) throws(MessageError) {
    guard !range.isEmpty, range.count <= hostLimit else { throw .malformed("an invalid Host") }
    var position = range.lowerBound
    let end = range.upperBound
    if bytes[position] == 0x5b {  // an IPv6 literal
      position += 1
      while position < end, bytes[position] == .colon || bytes[position] == 0x2e || bytes[position].isHexadecimalDigit {
        position += 1
      }
      guard position < end, bytes[position] == 0x5d, position > range.lowerBound + 2 else {
        throw .malformed("an invalid Host")
      }
      position += 1
    } else {
      while position < end, isHostCharacter(bytes[position]) { position += 1 }
      guard position > range.lowerBound else { throw .malformed("an invalid Host") }
    }
    if position < end {
      guard bytes[position] == .colon, end - position > 1, end - position <= 6 else {
        throw .malformed("an invalid Host")
      }
      var port = 0
      for digit in position + 1..<end {
        guard bytes[digit].isDigit else { throw .malformed("an invalid port in Host") }
        port = port * 10 + Int(bytes[digit] &- 0x30)
      }
      guard port > 0, port <= 65535 else { throw .malformed("an invalid port in Host") }
    }
  }

  /// True for letters, digits, `-`, `.` and `_`. The literals have one bit per byte value.
  private static func isHostCharacter(_ byte: UInt8) -> Bool {
    byte.isMember(low: 0x03ff_6000_0000_0000, high: 0x07ff_fffe_87ff_fffe)
  }

  private static func readFraming(
    _ bytes: Span<UInt8>, _ index: HeadIndex, _ minorVersion: Int
  ) throws(MessageError) -> BodyFraming {
    let isChunked = try Framing.isChunked(bytes, index)
    let length = try Framing.contentLength(bytes, index)
    if isChunked {
      guard length == nil else { throw .malformed("both Transfer-Encoding and Content-Length") }
      guard minorVersion == 1 else { throw .malformed("Transfer-Encoding in an HTTP/1.0 request") }
      return .chunked
    }
    guard let length, length > 0 else { return .none }
    return .length(length)
  }

  private static func readExpectation(
    _ bytes: Span<UInt8>, _ index: HeadIndex, _ minorVersion: Int, _ body: BodyFraming
  ) throws(MessageError) -> Bool {
    guard index.has(.expect) else { return false }
    var expects = false
    for number in 0..<index.count where index[number].known == .expect {
      guard HeadIndex.equalIgnoringCase(bytes, index[number].value, "100-continue"), !expects else {
        throw MessageError(status: 417, "an expectation that cannot be met")
      }
      expects = true
    }
    // RFC 9110, section 10.1.1: the expectation of an HTTP/1.0 client is ignored. It is also ignored if there is no
    // body for which the client could wait.
    return expects && minorVersion == 1 && body != .none
  }

  private struct RequestLine {
    var method = Method.other
    var methodRange = 0..<0
    var target = 0..<0
    var authority: Range<Int>?
    var isAsterisk = false
    var hasUnencodedTarget = false
    var minorVersion = 1
    /// The offset after the line end.
    var end = 0

    /// Parses `method SP request-target SP HTTP-version CRLF`, with single spaces.
    init(_ bytes: Span<UInt8>, from start: Int, _ limits: HeadLimits) throws(MessageError) {
      var position = start
      while bytes[position].isToken { position += 1 }
      methodRange = start..<position
      guard !methodRange.isEmpty, methodRange.count <= RequestHeadParser.methodLimit, bytes[position] == .space
      else { throw .malformed("an invalid request line") }
      method = Method(bytes, methodRange)
      position += 1
      let targetStart = position
      position = bytes.endOfTarget(from: position)
      if bytes[position] != .space, limits.acceptsUnencodedTargets {
        let start = position
        while bytes[position].needsEncodingInTarget { position = bytes.endOfTarget(from: position + 1) }
        hasUnencodedTarget = position > start
      }
      guard position > targetStart, bytes[position] == .space else {
        throw bytes[position] == 0x23
          ? .malformed("a fragment in the request target") : .malformed("an invalid request target")
      }
      guard position - targetStart <= limits.target else { throw .targetTooLong(limits) }
      let versionStart = position + 1
      position = versionStart
      while bytes[position] != .carriageReturn { position += 1 }
      minorVersion = try RequestLine.version(bytes, versionStart..<position)
      end = try HeadSyntax.skipLineEnd(bytes, position)
      try readTarget(bytes, targetStart..<versionStart - 1)
    }

    private static func version(_ bytes: Span<UInt8>, _ range: Range<Int>) throws(MessageError) -> Int {
      guard range.count == 8, HeadSyntax.isHTTP(bytes, at: range.lowerBound),
        bytes[range.lowerBound + 5].isDigit, bytes[range.lowerBound + 6] == 0x2e,
        bytes[range.lowerBound + 7].isDigit
      else { throw .malformed("an invalid HTTP version") }
      let minor = bytes[range.lowerBound + 7] &- 0x30
      guard bytes[range.lowerBound + 5] == 0x31, minor <= 1 else {
        throw MessageError(status: 505, "an HTTP version other than 1.0 and 1.1")
      }
      return Int(minor)
    }

    /// Reads the target in origin form, absolute form or asterisk form (RFC 9112, section 3.2). The fourth form,
    /// authority form, is only for CONNECT, which is refused.
    private mutating func readTarget(_ bytes: Span<UInt8>, _ range: Range<Int>) throws(MessageError) {
      if method == .connect || method == .trace {
        throw MessageError(status: 405, "a method that a gateway does not serve")
      }
      if bytes[range.lowerBound] == 0x2f {
        target = range
      } else if range.count == 1, bytes[range.lowerBound] == 0x2a {
        guard method == .options else { throw .malformed("the target `*` with a method other than OPTIONS") }
        isAsterisk = true
        target = range
      } else {
        try readAbsoluteTarget(bytes, range)
      }
    }

    private mutating func readAbsoluteTarget(_ bytes: Span<UInt8>, _ range: Range<Int>) throws(MessageError) {
      let prefixLength: Int
      if HeadIndex.equalIgnoringCase(bytes, range.prefix(7), "http://") {
        prefixLength = 7
      } else if HeadIndex.equalIgnoringCase(bytes, range.prefix(8), "https://") {
        prefixLength = 8
      } else {
        throw .malformed("an invalid request target")
      }
      let start = range.lowerBound + prefixLength
      var position = start
      while position < range.upperBound, bytes[position] != 0x2f, bytes[position] != 0x3f { position += 1 }
      try RequestHeadParser.checkHost(bytes, start..<position)
      authority = start..<position
      guard position == range.upperBound || bytes[position] == 0x2f else {
        throw .malformed("a request target without a path")
      }
      target = position..<range.upperBound
    }
  }
}
