import Enforcement
import HTTP
import OAuth
import Policy
import Proxy
import Telemetry

/// Facts about an observed request: the fields of its log line, and the findings that depend on other requests of its
/// flow (`I-observe`).
extension InterceptedRequest {
  /// The longest token response that is read, in bytes. A longer one passes unread.
  private static let longestTokenAnswer = 64 * 1024

  /// Records an authorization request.
  func noteObserved(_ request: AuthorizationRequest) {
    let parameters = request.parameters
    var observed = ObservedRequest()
    observed.redirectURI = parameters[.redirectURI].map(InterceptedRequest.shape)
    observed.responseType = parameters[.responseType]
    observed.scope = parameters[.scope]
    observed.pkce =
      switch (parameters[.codeChallenge], parameters[.codeChallengeMethod]) {
      case (nil, _): "none"
      case (.some, "S256"): "S256"
      case (.some, nil), (.some, "plain"): "plain"
      case (.some, .some): "other"
      }
    if let uri = parameters[.redirectURI].flatMap({ try? RedirectURI(parsing: $0) }) { trail.note(uri) }
    let client = parameters[.clientID].flatMap { policy.clients[ClientID($0)] }
    if parameters[.responseType] == "code", let link = ObservedFlow.link(request, client: client) {
      observed.flow = link.description
      gateway.resources.observed.begin(ObservedFlow(request), link: link)
    }
    trail.observed = observed
  }

  /// Records a token request, and the refusals that only the authorization request or an earlier response reveals.
  func noteObserved(_ request: TokenRequest) {
    let parameters = request.parameters
    let authentication = try? request.clientAuthentication()
    let grant = parameters[.grantType].flatMap(GrantType.init(rawValue:))
    var observed = ObservedRequest()
    observed.grant = parameters[.grantType].map { _ in grant?.rawValue ?? "other" }
    observed.redirectURI = parameters[.redirectURI].map(InterceptedRequest.shape)
    observed.scope = parameters[.scope]
    observed.clientAuthentication = authentication.map { InterceptedRequest.word(for: $0.method) }
    switch grant {
    case .authorizationCode:
      observed.pkce = parameters[.codeVerifier] == nil ? "none" : "verifier"
      guard let code = parameters[.code].map({ ShortDigest($0) }) else { break }
      observed.code = code.description
      let known = gateway.resources.observed.use(code)
      observed.isLinked = known != nil
      guard let known else {
        trail.notObservable()
        break
      }
      let rejections = Enforcement.rejections(
        of: request, redeeming: known.flow, isSecondUse: known.uses > 0, age: now - known.passedAt, policy: policy)
      for rejection in rejections { trail.wouldReject(rejection) }
    case .refreshToken:
      guard let token = parameters[.refreshToken], let id = authentication?.clientID,
        let known = gateway.resources.observed.presented(ShortDigest(token))
      else { break }
      if known.client != ShortDigest(id.rawValue) { trail.wouldReject(.refreshTokenForeign) }
      let window = Int64(policy.clients[id]?.refreshReuseWindow ?? 0)
      if let supersededAt = known.supersededAt, now - supersededAt >= window { trail.wouldReject(.refreshTokenReused) }
    case .clientCredentials, .deviceCode, .password, nil: break
    }
    trail.observed = observed
  }

  /// Reads the refresh token in a short token response. The response passes byte for byte.
  func noteObserved(_ reply: Reply, to request: TokenRequest) async -> Reply {
    guard case .relay(let answer, var response) = reply, answer.head.status == 200,
      let length = answer.length, length <= InterceptedRequest.longestTokenAnswer,
      let id = (try? request.clientAuthentication())?.clientID
    else { return reply }
    do throws(UpstreamFailure) {
      response.body = try await answer.collect()
    } catch {
      return .response(tokenRejection(.here(rejection(for: error))))
    }
    if let token = JSONValue.members(of: response.body)?["refresh_token"]?.text {
      gateway.resources.observed.gave(
        ShortDigest(token), for: request.parameters[.refreshToken].map { ShortDigest($0) },
        client: ShortDigest(id.rawValue), now: now)
    }
    return .response(response)
  }

  private static func word(for method: ClientAuthentication.Method) -> String {
    switch method {
    case .basic: "basic"
    case .post: "post"
    case .assertion: "assertion"
    case .none: "none"
    }
  }

  /// Returns the redirect URI without query and loopback port, as a policy lists it; `malformed` for any other text.
  private static func shape(_ text: String) -> String {
    (try? RedirectURI(parsing: text))?.address ?? "malformed"
  }
}
