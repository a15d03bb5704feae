internal import ByteText
import Cryptography
import Enforcement
import HTTP
import JSON
import Proxy
import Time

/// A JSON document that everyone may read, in the form in which it is served: metadata of the gateway (RFC 8414) or of
/// a resource (RFC 9728).
///
/// Scripts of every origin may read it, because it contains no secret and does not depend on any field of the request.
struct PublicDocument: Sendable {
  let bytes: [UInt8]
  /// The strong entity tag, which depends only on the bytes (RFC 9110, section 8.8.3).
  let entityTag: String

  /// - Parameter members: The members; those whose value is an empty list are omitted (RFC 8414, section 3.2; RFC 9728,
  ///   section 3.2).
  init(_ members: [String: JSONValue]) {
    bytes = JSONValue.text(of: members.filter { $0.value != .array([]) })
    entityTag = "\"" + Base64URL.encode(Array(sha256(bytes).prefix(16))) + "\""
  }

  /// Returns the response to a GET or HEAD request: 304 if the client has this document already (RFC 9110, section
  /// 13.1.2).
  ///
  /// - Parameter lifetime: The time for which the client may keep the document.
  func response(to request: Request, lifetime: Seconds) -> Response {
    var response = Response(
      status: 200,
      headers: [
        "Content-Type": "application/json", "Cache-Control": "public, max-age=\(lifetime.count)", "ETag": entityTag,
        "Access-Control-Allow-Origin": "*", "X-Content-Type-Options": "nosniff",
      ])
    if isKnown(to: request) {
      response.status = 304
      response.headers.remove("Content-Type")
    } else {
      response.body = bytes
    }
    return response
  }

  private func isKnown(to request: Request) -> Bool {
    var isKnown = false
    for field in request.headers.all("If-None-Match") {
      let bytes = field.utf8.span
      bytes.forEachPart(separatedBy: UInt8(ascii: ",")) { part in
        let tag = bytes.extracting(part)
        let strong = tag.starts(with: "W/".utf8.span) ? tag.extracting(2...) : tag
        isKnown = isKnown || tag.isEqual(to: "*".utf8.span) || strong.isEqual(to: entityTag.utf8.span)
        return !isKnown
      }
    }
    return isKnown
  }

  /// Returns the response to a request with another method than GET and HEAD: 204 to a preflight request (Fetch
  /// Standard, section 3.2.3), and a refusal to any other. Returns `nil` for GET and HEAD.
  static func responseToOtherMethod(_ intercepted: InterceptedRequest) -> Response? {
    let request = intercepted.request
    switch request.method {
    case "GET", "HEAD": return nil
    case "OPTIONS" where request.headers.contains("Access-Control-Request-Method"):
      return Response(
        status: 204,
        headers: [
          "Access-Control-Allow-Origin": "*", "Access-Control-Allow-Methods": "GET, HEAD",
          "Access-Control-Allow-Headers": "*", "Access-Control-Max-Age": "3600",
        ])
    default:
      intercepted.trail.recordRefusal(.methodNotAllowed)
      var response = intercepted.pages.error(ErrorPage(.methodNotAllowed), as: ErrorForm(request.headers))
      response.headers.set("Allow", "GET, HEAD, OPTIONS")
      return response
    }
  }
}
