internal import ByteText
import HTTP
import OAuth
import Policy

/// The fields by which the gateway lets scripts of other origins read a response (CORS; Fetch Standard, section 3.2).
///
/// An origin has access to the response to a client's request only if the policy lists the origin in `cors_origins`
/// and the client has a redirect URI of this origin: then the script is part of the client. No response has
/// `Access-Control-Allow-Credentials`, because these endpoints do not use cookies. The authorization endpoint has no
/// such fields at all (RFC 9700, section 2.6).
struct CrossOriginAccess: Sendable {
  /// The time for which a browser may keep the response to a preflight request, in seconds.
  private static let preflightLifetime = 600
  /// The request fields that clients send in addition to those that need no permission. MCP clients send their protocol
  /// version with every request.
  private static let requestFields = "Authorization, Content-Type, MCP-Protocol-Version"

  private let origins: Set<String>
  /// Those of `origins` that web views in apps have.
  private let originsOfApps: Set<String>

  init(_ policy: Policy) {
    let listed = policy.isEnforcing ? policy.gateway.corsOrigins : []
    origins = Set(listed.map(\.description))
    originsOfApps = Set(listed.filter(\.isOfApp).map(\.description))
  }

  /// Returns the response to a preflight request of a listed origin; `nil` for any other request. A preflight request
  /// does not name a client.
  func preflightResponse(to request: Request) -> Response? {
    guard request.method == "OPTIONS", request.headers.contains("Access-Control-Request-Method"),
      let origin = listedOrigin(of: request)
    else { return nil }
    return Response(
      status: 204,
      headers: [
        "Access-Control-Allow-Origin": origin, "Access-Control-Allow-Methods": "POST",
        "Access-Control-Allow-Headers": CrossOriginAccess.requestFields,
        "Access-Control-Max-Age": "\(CrossOriginAccess.preflightLifetime)", "Vary": "Origin",
      ])
  }

  /// True for a preflight request without parameters, which no server can take for another one.
  static func isPreflight(_ request: Request) -> Bool {
    request.method == "OPTIONS" && request.headers.contains("Access-Control-Request-Method") && request.query == nil
      && request.body.isEmpty
  }

  /// Removes the CORS fields of the upstream from a response, and adds those of the gateway.
  ///
  /// - Parameter client: The client of the request; `nil` if it is not known, or if the endpoint is not open to scripts.
  func edit(_ response: inout Response, to request: Request, from client: Client?) {
    if response.headers.fields.contains(where: { CrossOriginAccess.isCrossOriginField($0.name) }) {
      response.headers = Headers(
        response.headers.fields.filter { !CrossOriginAccess.isCrossOriginField($0.name) })
    }
    guard let client, client.mode == .enforce else { return }
    edit(&response, to: request) { origin in
      client.redirectURIs.contains { CrossOriginAccess.hasOrigin(origin, $0) }
        || client.application == .native && originsOfApps.contains(origin)
    }
  }

  /// Adds the gateway's CORS fields to a response that scripts of all listed origins may read.
  func edit(_ response: inout Response, to request: Request) {
    edit(&response, to: request) { _ in true }
  }

  private func edit(_ response: inout Response, to request: Request, ifOrigin isPermitted: (String) -> Bool) {
    guard !origins.isEmpty else { return }
    if !response.headers.contains("Vary") { response.headers.append("Vary", "Origin") }
    guard let origin = listedOrigin(of: request), isPermitted(origin) else { return }
    response.headers.append("Access-Control-Allow-Origin", origin)
    response.headers.append(
      "Access-Control-Expose-Headers", "Retry-After, WWW-Authenticate, X-Proofgate-Rule, X-Request-ID")
  }

  /// Returns the origin of a request if the policy lists it. An origin is ASCII: the set would normalise any other text.
  private func listedOrigin(of request: Request) -> String? {
    guard let origin = request.headers.onlyValue(of: "Origin"), origin.utf8.span.isASCII, origins.contains(origin)
    else {
      return nil
    }
    return origin
  }

  private static func isCrossOriginField(_ name: String) -> Bool {
    name.utf8.count > 15 && name.utf8.span.extracting(first: 15).isEqualIgnoringCase(to: "access-control-".utf8.span)
  }

  /// Returns true if the redirect URI has this origin. The port of a loopback URI may differ, because apps choose it at
  /// run time (RFC 8252, section 7.3).
  private static func hasOrigin(_ origin: String, _ uri: RedirectURI) -> Bool {
    let isRegistered = "\(uri.text)/".hasPrefix(origin + "/") || "\(uri.text)/".hasPrefix(origin + "?")
    return switch uri.kind {
    case .https:
      isRegistered || "\(uri.text)/".hasPrefix(origin + ":443/") || "\(uri.text)/".hasPrefix(origin + ":443?")
    case .loopback(.ipv4, _): withoutPort(origin) == "http://127.0.0.1"
    case .loopback(.ipv6, _): withoutPort(origin) == "http://[::1]"
    case .localhost: withoutPort(origin) == "http://localhost"
    case .privateUse, .windowsBroker: false
    }
  }

  /// Returns the origin without its port.
  private static func withoutPort(_ origin: String) -> String {
    guard let colon = origin.lastIndex(of: ":") else { return origin }
    let port = origin[origin.index(after: colon)...]
    return port.utf8.allSatisfy(\.isDigit) ? String(origin[..<colon]) : origin
  }
}
