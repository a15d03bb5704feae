import Testing

/// One request, or bytes like one, that two servers might parse differently, and the only safe outcome.
struct DesyncCase: Sendable, CustomTestStringConvertible {
  enum Expectation: Sendable {
    /// The gateway answers with this status and ends the connection; no byte reaches the upstream.
    case refused(Int)
    /// The upstream gets exactly this request, and the next bytes of the connection are the next request.
    case forwarded(CanonicalRequest)
    /// The head is valid and the body is not: the upstream sees an incomplete request, never a complete one.
    case cut(Int)
  }

  let name: String
  let bytes: String
  let expectation: Expectation

  var testDescription: String { name }

  static func refused(_ name: String, _ bytes: String, _ status: Int = 400) -> DesyncCase {
    DesyncCase(name: name, bytes: bytes, expectation: .refused(status))
  }

  static func forwarded(_ name: String, _ bytes: String, _ request: CanonicalRequest) -> DesyncCase {
    DesyncCase(name: name, bytes: bytes, expectation: .forwarded(request))
  }

  static func cut(_ name: String, _ bytes: String, _ status: Int = 400) -> DesyncCase {
    DesyncCase(name: name, bytes: bytes, expectation: .cut(status))
  }
}

/// The one form in which the gateway forwards a request.
struct CanonicalRequest: Sendable {
  enum Body: Sendable {
    case none
    case length(String)
    /// Sent in chunks and complete at once, so its length is known.
    case chunked(String)
    /// Sent in chunks, and forwarded in one chunk with these trailer lines.
    case trailed(String, [String])
  }

  var method = "GET"
  var target = "/"
  /// Field lines that are forwarded.
  var fields: [String] = []
  var body = Body.none
  var host: String? = "gateway.test"
  var via = "1.1"
  /// True if the client accepts trailers.
  var acceptsTrailers = false
  /// True if no request may follow on the client's connection.
  var isLast = false

  /// The exact bytes.
  var bytes: String {
    var text = "\(method) \(target) HTTP/1.1\r\nHost: upstream.test\r\n"
    for field in fields { text += "\(field)\r\n" }
    text += "Via: \(via) proofgate\r\nX-Forwarded-For: 127.0.0.1\r\nX-Forwarded-Proto: http\r\n"
    text += "Forwarded: for=127.0.0.1;proto=http"
    if let host { text += ";host=\"\(host)\"\r\nX-Forwarded-Host: \(host)" }
    text += "\r\n"
    // A second `Connection` field could hide `close` from the server.
    if acceptsTrailers, !closes { text += "TE: trailers\r\nConnection: TE\r\n" }
    if case .trailed(let body, let trailers) = body {
      let lines = trailers.map { "\($0)\r\n" }.joined()
      return text
        + "Transfer-Encoding: chunked\r\n\r\n\(String(body.utf8.count, radix: 16))\r\n\(body)\r\n0\r\n\(lines)\r\n"
    }
    if serversReadContent || !content.isEmpty { text += "Content-Length: \(content.utf8.count)\r\n" }
    if closes { text += "Connection: close\r\n" }
    return text + "\r\n\(content)"
  }

  private var serversReadContent: Bool { ["POST", "PUT", "PATCH"].contains(method) }
  private var closes: Bool { !serversReadContent && !content.isEmpty }

  private var content: String {
    switch body {
    case .none: ""
    case .length(let body), .chunked(let body), .trailed(let body, _): body
    }
  }
}
