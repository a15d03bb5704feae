import Testing

/// One request, or something like it, that two servers might read in two ways, and the only safe ends that it may have.
struct DesyncCase: Sendable, CustomTestStringConvertible {
  enum Expectation: Sendable {
    /// Answered with this status; not a byte reaches the upstream, and the connection ends.
    case refused(Int)
    /// The upstream gets exactly this request, and what follows on the connection is the next one.
    case forwarded(CanonicalRequest)
    /// The head was good and the body is not: the upstream sees its request break off, and never a whole one.
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

/// The one form in which the gateway sends a request on.
struct CanonicalRequest: Sendable {
  enum Body: Sendable {
    case none
    case length(String)
    /// It came in chunks and was whole at once, so its length is known.
    case chunked(String)
  }

  var method = "GET"
  var target = "/"
  /// Lines that travel through.
  var fields: [String] = []
  var body = Body.none
  var host: String? = "gateway.test"
  var via = "1.1"
  /// Nothing may follow on the client's connection.
  var isLast = false

  /// To the byte.
  var bytes: String {
    var text = "\(method) \(target) HTTP/1.1\r\nHost: upstream.test\r\n"
    for field in fields { text += "\(field)\r\n" }
    text += "Via: \(via) proofgate\r\nX-Forwarded-For: 127.0.0.1\r\nX-Forwarded-Proto: http\r\n"
    text += "Forwarded: for=127.0.0.1;proto=http"
    if let host { text += ";host=\"\(host)\"\r\nX-Forwarded-Host: \(host)" }
    text += "\r\n"
    let definesContent = ["POST", "PUT", "PATCH"].contains(method)
    if definesContent || !content.isEmpty { text += "Content-Length: \(content.utf8.count)\r\n" }
    if !definesContent, !content.isEmpty { text += "Connection: close\r\n" }
    return text + "\r\n\(content)"
  }

  private var content: String {
    switch body {
    case .none: ""
    case .length(let body), .chunked(let body): body
    }
  }
}
