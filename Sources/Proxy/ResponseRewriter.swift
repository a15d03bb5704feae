internal import ByteText
import HTTP
import HTTP1
import HTTP2
import Reactor

/// Writes the head of a response for the client, from the head of the upstream's response.
enum ResponseRewriter {
  /// The framing of the outgoing body.
  struct Framing {
    /// Moves the body from the upstream to the client.
    let pump: BodyPump
    /// The framing that the pump produces.
    let body: BodyFraming
    /// The framing field of the head.
    let field: Field
    /// True if the end of the connection ends the body: for an HTTP/1.0 client without an announced length.
    let needsClose: Bool

    enum Field {
      case none
      case length(Int)
      case chunked
    }

    /// - Parameters:
    ///   - body: the framing of the upstream's response.
    ///   - announcedLength: the upstream's `Content-Length`, which a response without a body keeps, e.g. to HEAD.
    ///   - minorVersion: the minor version of HTTP/1 that the client uses.
    init(_ body: BodyFraming, announcedLength: Int?, minorVersion: Int) {
      switch body {
      case .none:
        pump = BodyPump(.none, as: .plain)
        self.body = .none
        field = announcedLength.map { .length($0) } ?? .none
        needsClose = false
      case .length(let count):
        pump = BodyPump(body, as: .plain)
        self.body = body
        field = .length(count)
        needsClose = false
      case .chunked, .untilClose:
        pump = BodyPump(body, as: minorVersion == 1 ? .chunked : .plain)
        self.body = minorVersion == 1 ? .chunked : .untilClose
        field = minorVersion == 1 ? .chunked : .none
        needsClose = minorVersion == 0
      }
    }
  }

  /// Values that replace those of the upstream in fields with a URL.
  struct Replacements {
    private(set) var location: String?
    private(set) var contentLocation: String?
    private(set) var refresh: String?

    /// The size of the three field names and the text around them, rounded up.
    private static let overhead = 64

    /// An upper bound of the number of bytes of the replaced fields.
    var byteCount: Int {
      let values = (location?.utf8.count ?? 0) + (contentLocation?.utf8.count ?? 0) + (refresh?.utf8.count ?? 0)
      return values == 0 ? 0 : values + Replacements.overhead
    }

    mutating func set(_ field: KnownField, _ value: String?) {
      switch field {
      case .location: location = value
      case .contentLocation: contentLocation = value
      case .refresh: refresh = value
      default: break
      }
    }
  }

  /// Fields that the gateway adds to those of the upstream. Most responses get none.
  struct Additions {
    /// The `Date` line, for a response without this field (RFC 9110, section 6.6.1).
    var date: [UInt8] = []
    /// The `Strict-Transport-Security` line, which replaces the upstream's; if empty, the upstream's is kept.
    var strictTransport: [UInt8] = []
    /// The `X-Request-ID` line, which replaces the upstream's; if empty, the upstream's is kept.
    var requestID: [UInt8] = []
    /// Values of `Set-Cookie` fields.
    var cookies: [[UInt8]] = []
    /// Further lines, in HTTP/1.1 form.
    var lines: [[UInt8]] = []

    /// An upper bound of the number of bytes of the fields.
    var byteCount: Int {
      let cookieBytes = cookies.reduce(0) { $0 + $1.count + "Set-Cookie: \r\n".utf8.count }
      return date.count + strictTransport.count + requestID.count + cookieBytes + lines.reduce(0) { $0 + $1.count }
    }

    fileprivate func append(to sink: some ResponseHeadSink) {
      for cookie in cookies { sink.appendField("Set-Cookie", cookie) }
      for line in lines { sink.appendLine(line) }
      if !date.isEmpty { sink.appendLine(date) }
      if !strictTransport.isEmpty { sink.appendLine(strictTransport) }
      if !requestID.isEmpty { sink.appendLine(requestID) }
    }
  }

  private static let secureAttribute: StaticString = "; Secure"

  /// Returns the maximum number of bytes that `write` adds to the fields of the upstream, not counting replacements,
  /// additions and the end of the head (`appendEnd`).
  static func growth(of fields: HeadIndex, _ settings: CompiledProxyConfiguration) -> Int {
    var growth = 0
    guard settings.configuration.securesCookies, fields.has(.setCookie) else { return growth }
    for field in fields where field.known == .setCookie { growth += secureAttribute.utf8CodeUnitCount }
    return growth
  }

  /// Writes the head of a passing response.
  ///
  /// - Parameters:
  ///   - additions: the fields to add; `nil` for none, so that nearly all responses need no array.
  ///   - dropsCookieDomains: true if a cookie has a `Domain` that must be dropped.
  static func write(
    _ head: ResponseHead, _ bytes: Span<UInt8>, _ fields: HeadIndex, _ framing: Framing.Field, keepsAlive: Bool,
    minorVersion: Int, _ replacements: borrowing Replacements, _ additions: Additions?,
    dropsCookieDomains: Bool = false, _ settings: CompiledProxyConfiguration, to sink: some ResponseHeadSink
  ) {
    sink.appendStart(status: head.status, bytes, reason: head.reason)
    for index in 0..<fields.count where !fields[index].isNamedByConnection {
      let field = fields[index]
      switch field.known {
      case .contentLength, .transferEncoding, .connection, .keepAlive, .proxyConnection, .te, .trailer, .upgrade,
        .http2Settings:
        continue
      case .setCookie where CookieFilter.sets(settings.configuration.handlerCookie, bytes, field.value): continue
      case .setCookie where dropsCookieDomains:
        var value = CookieFilter.droppingForeignDomains(bytes, field.value, settings.configuration.cookieHost)
        if settings.configuration.securesCookies, !CookieFilter.isSecure(bytes, field.value) {
          value.append(secureAttribute.description)
        }
        sink.appendField("Set-Cookie", value)
      case .setCookie where settings.configuration.securesCookies && !CookieFilter.isSecure(bytes, field.value):
        sink.appendField(bytes, name: field.name, value: field.value, suffix: secureAttribute)
      case .strictTransportSecurity where additions?.strictTransport.isEmpty == false: continue
      case .alternativeService where settings.configuration.dropsAlternativeServices: continue
      case .requestID where additions?.requestID.isEmpty == false: continue
      case .location where replacements.location != nil: continue
      case .contentLocation where replacements.contentLocation != nil: continue
      case .refresh where replacements.refresh != nil: continue
      default: sink.appendField(bytes, name: field.name, value: field.value)
      }
    }
    if let location = replacements.location { sink.appendField("Location", FieldText.encode(location)) }
    if let location = replacements.contentLocation { sink.appendField("Content-Location", FieldText.encode(location)) }
    if let refresh = replacements.refresh { sink.appendField("Refresh", FieldText.encode(refresh)) }
    additions?.append(to: sink)
    sink.appendEnd(framing, status: head.status, keepsAlive: keepsAlive, minorVersion: minorVersion)
  }

  /// Appends the framing fields, the `Connection` field, and the empty line.
  static func appendEnd(
    _ field: Framing.Field, status: Int, keepsAlive: Bool, minorVersion: Int, to buffer: Buffer
  ) {
    switch field {
    case .length(let count) where status != 204:
      buffer.append("Content-Length: ")
      buffer.append(decimal: count)
      buffer.append("\r\n")
    case .chunked: buffer.append("Transfer-Encoding: chunked\r\n")
    case .none, .length: break
    }
    if !keepsAlive {
      buffer.append("Connection: close\r\n")
    } else if minorVersion == 0 {
      buffer.append("Connection: keep-alive\r\n")
    }
    buffer.append("\r\n")
  }
}

/// The destination of a passing response head: a buffer for HTTP/1.1, or the field block of an HTTP/2 stream.
protocol ResponseHeadSink {
  func appendStart(status: Int, _ bytes: Span<UInt8>, reason: Range<Int>)
  func appendField(_ bytes: Span<UInt8>, name: Range<Int>, value: Range<Int>)
  func appendField(_ bytes: Span<UInt8>, name: Range<Int>, value: Range<Int>, suffix: StaticString)
  func appendField(_ name: StaticString, _ value: [UInt8])
  /// Appends a field given in HTTP/1.1 form with its line end. Does nothing if `line` is empty.
  func appendLine(_ line: [UInt8])
  /// Ends the head: appends the framing field and, in HTTP/1.1 form, the `Connection` field and the empty line.
  func appendEnd(_ framing: ResponseRewriter.Framing.Field, status: Int, keepsAlive: Bool, minorVersion: Int)
}

extension Buffer: ResponseHeadSink {
  func appendStart(status: Int, _ bytes: Span<UInt8>, reason: Range<Int>) {
    append("HTTP/1.1 ")
    append(decimal: status)
    append(0x20)
    append(bytes, in: reason)
    append("\r\n")
  }

  func appendField(_ bytes: Span<UInt8>, name: Range<Int>, value: Range<Int>, suffix: StaticString) {
    append(bytes, in: name)
    append(": ")
    append(bytes, in: value)
    append(suffix)
    append("\r\n")
  }

  func appendField(_ name: StaticString, _ value: [UInt8]) {
    append(name)
    append(": ")
    append(value)
    append("\r\n")
  }

  func appendLine(_ line: [UInt8]) {
    append(line)
  }

  func appendEnd(_ framing: ResponseRewriter.Framing.Field, status: Int, keepsAlive: Bool, minorVersion: Int) {
    ResponseRewriter.appendEnd(framing, status: status, keepsAlive: keepsAlive, minorVersion: minorVersion, to: self)
  }
}

/// HTTP/2 has no reason phrase, no chunks and no `Connection` (RFC 9113, sections 8.2.2 and 8.3.2).
extension FieldBlock: ResponseHeadSink {
  func appendStart(status: Int, _ bytes: Span<UInt8>, reason: Range<Int>) {
    append(":status", decimal: status)
  }

  func appendField(_ bytes: Span<UInt8>, name: Range<Int>, value: Range<Int>) {
    append(bytes, name: name, value: value)
  }

  func appendField(_ bytes: Span<UInt8>, name: Range<Int>, value: Range<Int>, suffix: StaticString) {
    append(bytes, name: name, value: value, suffix: suffix)
  }

  func appendField(_ name: StaticString, _ value: [UInt8]) {
    append(name, value)
  }

  func appendLine(_ line: [UInt8]) {
    guard let colon = line.firstIndex(of: 0x3a) else { return }
    append(line.span, name: 0..<colon, value: colon + 2..<line.count - 2)
  }

  func appendEnd(_ framing: ResponseRewriter.Framing.Field, status: Int, keepsAlive: Bool, minorVersion: Int) {
    if case .length(let count) = framing, status != 204 { append("content-length", decimal: count) }
  }
}

/// Decides whether a field with a URL for the browser is forwarded, replaced or withheld.
enum LocationRewriter {
  enum Outcome {
    case keep
    case replace(String)
    case withhold
    /// The replacement cannot be encoded without changing its meaning.
    case unencodable
  }

  /// Decides on the value of a `Location`, `Content-Location` or `Refresh`.
  static func outcome(
    for value: String, in response: PassingResponseFacts, path: () -> [UInt8], _ handler: any RequestHandler,
    _ configuration: ProxyConfiguration
  ) -> Outcome {
    switch handler.passingLocation(value, in: response, path: path) {
    case .withhold: return .withhold
    case .replace(let replacement): return ResponseEncoder.isSafe(replacement) ? .replace(replacement) : .unencodable
    case .keep:
      guard let replacement = replacement(of: value, configuration) else { return .keep }
      if replacement.isOfInsecure { handler.found(.insecureLocation, request: response.request) }
      return replacement.value.map { .replace($0) } ?? .keep
    }
  }

  /// A value with the gateway's origin in place of another.
  struct Replacement {
    /// The value; `nil` if the field must stay as it is.
    let value: String?
    /// True if the URL had the gateway's origin with http in place of https.
    let isOfInsecure: Bool
  }

  /// Returns the value with the gateway's origin in place of one of the upstream's, or of its own with http in place of
  /// https; `nil` if the URL in the value has another origin.
  ///
  /// If the origin were not replaced, a legacy server that builds absolute URLs from its own name would redirect the
  /// browser past the gateway. One that does not know that the browser uses https would send it, with the sealed state and
  /// then the password, over http.
  static func replacement(of value: String, _ configuration: ProxyConfiguration) -> Replacement? {
    let target = RefreshField.target(of: value)
    // Nearly all redirects are relative, or lead to another site.
    guard target.first != UInt8(ascii: "/") else { return nil }
    let isOfInsecure: Bool
    let end: String.Index
    if let rest = configuration.upstreamOrigins.lazy.compactMap({ rest(of: target, after: $0) }).first {
      (end, isOfInsecure) = (rest, false)
    } else if let rest = configuration.insecureOrigins.lazy.compactMap({ rest(of: target, after: $0) }).first {
      (end, isOfInsecure) = (rest, true)
    } else {
      return nil
    }
    guard !isOfInsecure || configuration.upgradesInsecureOrigins else {
      return Replacement(value: nil, isOfInsecure: true)
    }
    return Replacement(
      value: "\(value[..<target.startIndex])\(configuration.origin)\(value[end...])", isOfInsecure: isOfInsecure)
  }

  /// Replaces origins in the fields that redirect a browser: Location, Refresh and Content-Location.
  ///
  /// - Returns: True if a URL had the gateway's origin with http in place of https.
  static func replaceOrigins(in headers: inout Headers, _ configuration: ProxyConfiguration) -> Bool {
    var fields = headers.fields
    var isOfInsecure = false
    var isChanged = false
    for (index, field) in fields.enumerated()
    where locationNames.contains(where: { field.name.isEqualIgnoringCase(to: $0) }) {
      guard let replacement = replacement(of: field.value, configuration) else { continue }
      if replacement.isOfInsecure { isOfInsecure = true }
      guard let value = replacement.value else { continue }
      fields[index] = Headers.Field(name: field.name, value: value)
      isChanged = true
    }
    if isChanged { headers = Headers(fields) }
    return isOfInsecure
  }

  /// The names of the fields that redirect a browser.
  static let locationNames = ["Location", "Refresh", "Content-Location"]

  /// Returns the index in a URL behind its origin; `nil` if it has another origin.
  private static func rest(of target: Substring.UTF8View, after origin: String) -> String.Index? {
    let count = origin.utf8.count
    // Scheme and host are case-insensitive (RFC 3986, section 6.2.2.1).
    guard count > 0, target.prefix(count).elementsEqual(origin.utf8, by: isEqualIgnoringCase) else { return nil }
    let end = target.index(target.startIndex, offsetBy: count)
    return target[end...].first.map { "/?#".utf8.contains($0) } ?? true ? end : nil
  }

  private static func isEqualIgnoringCase(_ a: UInt8, _ b: UInt8) -> Bool { a.lowercasedASCII == b.lowercasedASCII }
}
