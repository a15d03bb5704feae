import HTTP
import HTTP1
import Reactor

/// Writes the head of a response for the client, from the head of the upstream's response.
enum ResponseRewriter {
  /// The framing of the outgoing body.
  struct Framing {
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
    var count: Int {
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

  private static let secureAttribute: StaticString = "; Secure"

  /// Returns the maximum number of bytes by which the fields grow, not counting replacements and an added `Date`.
  static func growth(of fields: HeadIndex, _ settings: CompiledProxyConfiguration) -> Int {
    var growth = settings.strictTransportLine.count
    guard settings.configuration.securesCookies, fields.has(.setCookie) else { return growth }
    for field in fields where field.known == .setCookie { growth += secureAttribute.utf8CodeUnitCount }
    return growth
  }

  /// Writes the head of a passing response.
  ///
  /// - Parameters:
  ///   - date: the `Date` field to add; empty if the upstream sent one (RFC 9110, section 6.6.1).
  ///   - strictTransport: the gateway's `Strict-Transport-Security` line, which replaces the upstream's; or nothing.
  static func write(
    _ head: ResponseHead, _ bytes: Span<UInt8>, _ fields: HeadIndex, _ framing: Framing.Field, keepsAlive: Bool,
    minorVersion: Int, _ replacements: borrowing Replacements, date: [UInt8], strictTransport: [UInt8],
    _ settings: CompiledProxyConfiguration, to sink: some ResponseHeadSink
  ) {
    sink.appendStart(status: head.status, bytes, reason: head.reason)
    for index in 0..<fields.count where !fields[index].isNominated {
      let field = fields[index]
      switch field.known {
      case .contentLength, .transferEncoding, .connection, .keepAlive, .proxyConnection, .te, .trailer, .upgrade,
        .http2Settings:
        continue
      case .setCookie where CookieFilter.sets(settings.configuration.privateCookie, bytes, field.value): continue
      case .setCookie where settings.configuration.securesCookies && !CookieFilter.isSecure(bytes, field.value):
        sink.appendField(bytes, name: field.name, value: field.value, suffix: secureAttribute)
      case .strictTransportSecurity where !strictTransport.isEmpty: continue
      case .location where replacements.location != nil: continue
      case .contentLocation where replacements.contentLocation != nil: continue
      case .refresh where replacements.refresh != nil: continue
      default: sink.appendField(bytes, name: field.name, value: field.value)
      }
    }
    if let location = replacements.location { sink.appendField("Location", FieldText.encode(location)) }
    if let location = replacements.contentLocation { sink.appendField("Content-Location", FieldText.encode(location)) }
    if let refresh = replacements.refresh { sink.appendField("Refresh", FieldText.encode(refresh)) }
    sink.appendLine(date)
    sink.appendLine(strictTransport)
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
