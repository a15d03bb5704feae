import ByteText
import Cryptography
import Demo
import HTTP
import LegacyServer
import OAuth
import Synchronization
import Time

/// The part of a gateway that the demo's story needs, so that the story can be tested without one: PKCE in front of a
/// legacy server that it calls itself.
final class StubGateway: Sendable {
  struct Held: Sendable {
    var legacyCode: String
    var challenge: String
    var clientID: String
  }

  struct State: Sendable {
    var codes: [String: Held] = [:]
    var transactions: [String: Form] = [:]
    /// The tokens that were issued for each code.
    var issuedTokens: [String: [Secret]] = [:]
  }

  static let origin = "http://gateway.test"
  static let callback = origin + "/.proofgate/callback"
  static let client = LegacyClient(id: "legacy-mail", secret: "s3cr3t", name: "Mail", redirectURI: callback)

  let legacy: LegacyAuthorizationServer
  private let state = Mutex(State())
  private let redirectURIs: [String: String]
  /// The check that the gateway omits, for the tests that the story notices it.
  let fault: Fault?

  enum Fault: CaseIterable, Sendable {
    case acceptsMissingChallenge
    case acceptsWrongVerifier
    case acceptsAnyRedirectURI
    case acceptsReplay
    case contactsLegacyServer
    case keepsTokensOfReplayedCode
  }

  init(redirectURIs: [String: String], fault: Fault? = nil) {
    legacy = LegacyAuthorizationServer(LegacyConfiguration(clients: [StubGateway.client]))
    self.redirectURIs = redirectURIs
    self.fault = fault
  }

  func respond(to request: Request, now: UnixTime) -> Response {
    switch request.path {
    case "/authorize" where request.method == "GET": authorize(request, now: now)
    case "/token": token(request, now: now)
    default: complete(legacy.respond(to: request, now: now))
    }
  }

  private func authorize(_ request: Request, now: UnixTime) -> Response {
    let form = Form(decoding: request.query ?? "")
    if let handle = form["state"], state.withLock({ $0.transactions[handle] }) != nil {
      return complete(legacy.respond(to: request, now: now))
    }
    if fault == .contactsLegacyServer { _ = legacy.respond(to: request, now: now) }
    guard let clientID = form["client_id"], let registered = redirectURIs[clientID], let asked = form["redirect_uri"],
      registered == asked || fault == .acceptsAnyRedirectURI
    else { return Response(status: 400, headers: ["Content-Type": "text/html"], body: Array("<h1>No</h1>".utf8)) }
    guard form["code_challenge"] != nil || fault == .acceptsMissingChallenge else {
      let error: Form = ["error": "invalid_request", "state": form["state"] ?? "", "iss": StubGateway.origin]
      return Response(status: 302, headers: ["Location": error.added(to: asked)])
    }
    let handle = Base64URL.encode(randomBytes(16))
    state.withLock { $0.transactions[handle] = form }
    let upstream: Form = [
      "response_type": "code", "client_id": StubGateway.client.id, "redirect_uri": StubGateway.callback,
      "state": handle,
    ]
    var forwarded = request
    forwarded.target = upstream.added(to: "/authorize")
    return complete(legacy.respond(to: forwarded, now: now))
  }

  private func complete(_ response: Response) -> Response {
    guard let location = response.headers["Location"], location.hasPrefix(StubGateway.callback) else { return response }
    let answer = Form(decoding: location.dropFirst(StubGateway.callback.count + 1))
    return state.withLock { state in
      guard let asked = state.transactions[answer["state"] ?? ""], let redirectURI = asked["redirect_uri"] else {
        return Response(status: 400)
      }
      let code = Base64URL.encode(randomBytes(24))
      state.codes[code] = Held(
        legacyCode: answer["code"] ?? "", challenge: asked["code_challenge"] ?? "", clientID: asked["client_id"] ?? "")
      let result: Form = ["code": code, "state": asked["state"] ?? "", "iss": StubGateway.origin]
      return Response(status: 302, headers: ["Location": result.added(to: redirectURI)])
    }
  }

  private func token(_ request: Request, now: UnixTime) -> Response {
    let form = Form(decoding: String(decoding: request.body, as: UTF8.self))
    let refusal = Response(
      status: 400, headers: ["Content-Type": "application/json"], body: Array(#"{"error":"invalid_grant"}"#.utf8))
    let code = form["code"] ?? ""
    guard let held = state.withLock({ $0.codes[code] }), held.clientID == form["client_id"],
      Base64URL.encode(sha256(Array((form["code_verifier"] ?? "").utf8))) == held.challenge
        || fault == .acceptsWrongVerifier
    else {
      if fault != .keepsTokensOfReplayedCode { revokeTokens(ofCode: code, now: now) }
      return refusal
    }
    if fault != .acceptsReplay { state.withLock { $0.codes[code] = nil } }
    let upstream: Form = [
      "grant_type": "authorization_code", "code": held.legacyCode, "redirect_uri": StubGateway.callback,
      "client_id": StubGateway.client.id, "client_secret": StubGateway.client.secret.reveal(),
    ]
    var forwarded = request
    forwarded.body = Array(upstream.encoded.utf8)
    let response = legacy.respond(to: forwarded, now: now)
    if let tokens = NativeApp.tokens(in: response) {
      state.withLock { $0.issuedTokens[code] = [tokens.accessToken] + (tokens.refreshToken.map { [$0] } ?? []) }
    }
    return response
  }

  private func revokeTokens(ofCode code: String, now: UnixTime) {
    for token in state.withLock({ $0.issuedTokens.removeValue(forKey: code) }) ?? [] {
      let form: Form = [
        "token": token.reveal(), "client_id": StubGateway.client.id,
        "client_secret": StubGateway.client.secret.reveal(),
      ]
      let request = Request(
        method: "POST", target: "/revoke",
        headers: ["Host": "legacy.test", "Content-Type": "application/x-www-form-urlencoded"],
        body: Array(form.encoded.utf8))
      _ = legacy.respond(to: request, now: now)
    }
  }
}
