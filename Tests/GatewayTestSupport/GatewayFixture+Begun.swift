public import Demo
public import HTTP
public import LegacyServer
public import OAuth
import Policy
public import Sealing

/// A transaction that has begun at the upstream.
public struct Begun: Sendable {
  /// The gateway's response to the authorization request.
  public let response: Response
  /// The gateway's cookie, `name=value`.
  public let cookie: String
  /// The query that the upstream received.
  public let query: Form

  /// The sealed state.
  public var state: String { query["state"] ?? "" }
  /// The target to which forms and links of the upstream's pages lead.
  public var target: String { query.added(to: "/authorize") }

  /// The same target with changed parameters.
  public func target(_ adjust: (inout Form) -> Void) -> String {
    var changed = query
    adjust(&changed)
    return changed.added(to: "/authorize")
  }
}

extension GatewayFixture {
  /// The transaction did not begin.
  public struct NotBegun: Error, CustomStringConvertible {
    /// The response to the request that should have continued the transaction.
    public let response: Response
    /// The status with the redirect target or, without one, the body.
    public var description: String { "\(response.status) \(response.location ?? response.text)" }
  }

  /// Sends the authorization request (AZ) of a client without a gateway consent page, and returns the transaction.
  ///
  /// - Parameter cookies: Cookies of the browser, `name=value`.
  public func begin(
    _ client: String = "p1", cookies: [String] = [], adjusting adjust: (inout Form) -> Void = { _ in }
  ) async throws -> Begun {
    let before = upstream.recorder.count
    let response = try await get(authorizationTarget(client, adjusting: adjust), Headers.cookies(cookies))
    guard let cookie = response.ownCookie, upstream.recorder.count > before,
      let query = upstream.recorder.requests(to: "/authorize").last?.query
    else { throw NotBegun(response: response) }
    return Begun(response: response, cookie: cookie, query: Form(decoding: query))
  }

  /// Signs in at the legacy server and returns its session cookie, `name=value`.
  public func legacySession(_ user: DemoUser = DemoUser()) async throws -> String {
    let response = try await post("/login", ["username": user.name, "password": user.password, "next": "/"])
    guard let pair = response.headers["Set-Cookie"]?.prefix(while: { $0 != ";" }) else {
      throw NotBegun(response: response)
    }
    return String(pair)
  }

  /// Presses "allow" on the legacy server's consent page of a transaction and returns the gateway's response.
  public func allow(
    _ begun: Begun, cookies: [String], adjusting adjust: (inout Form) -> Void = { _ in }
  ) async throws -> Response {
    var form = begun.query
    form.append("confirm", "yes")
    adjust(&form)
    return try await post("/authorize", form, Headers.cookies(cookies))
  }

  /// A sealer with this gateway's keys.
  public var sealer: Sealer { Sealer(keyRing: keyRing, issuer: policy.gateway.issuer) }

  /// The content of the sealed state.
  public func transaction(of begun: Begun) throws -> AuthorizationTransaction {
    try transaction(in: begun.state)
  }

  /// The content of a sealed state. Throws `OpenError` if it was not sealed with the keys and issuer of this gateway.
  public func transaction(in state: String) throws -> AuthorizationTransaction {
    try sealer.open(AuthorizationTransaction.self, from: state)
  }
}

extension Headers {
  /// A `Cookie` field with these pairs; no field if there are no pairs.
  public static func cookies(_ pairs: [String]) -> Headers {
    pairs.isEmpty ? Headers() : ["Cookie": pairs.joined(separator: "; ")]
  }
}

extension Response {
  /// The gateway's cookie in this response, `name=value`.
  public var ownCookie: String? {
    let fields = headers.all("Set-Cookie").filter { $0.hasPrefix("__Host-proofgate=") || $0.hasPrefix("proofgate=") }
    return fields.first.map { String($0.prefix { $0 != ";" }) }
  }
}
