import Enforcement
import HTTP
import OAuth
import Policy
import Proxy
import Sealing

/// The token endpoint (RFC 6749, section 3.2; `I-token`).
struct TokenEndpoint {
  private let exchange: Interception
  private let request: TokenRequest

  init(_ exchange: Interception) {
    self.exchange = exchange
    request = exchange.clientRequest()
  }

  func respond() async -> Reply {
    let authentication = (try? request.clientAuthentication()) ?? nil
    exchange.note(clientID: authentication?.clientID.rawValue)
    let holdsSealedValue = holdsSealedValue
    let isObserved = !holdsSealedValue && Enforcement.mode(of: request, policy: exchange.policy) == .observe
    if let refused = exchange.throttledAddress() ?? exchange.refused(request, authentication, isObserved: isObserved) {
      return .response(refused)
    }
    let outcome = Enforcement.decideToken(request, policy: exchange.policy, holdsSealedValue: holdsSealedValue)
    exchange.trail.note(outcome)
    switch outcome.decision {
    case .reject(let refusal):
      if refusal.rejection == .clientAuthenticationFailed { exchange.countFailedCredentials(authentication) }
      return .response(exchange.tokenRefusal(refusal))
    case .pass:
      exchange.noteObserved(request)
      return await exchange.noteObserved(exchange.observe(request, authentication), to: request)
    case .forward(.redeem(let intent)): return .response(await redeem(intent))
    case .forward(.refresh(let intent)): return .response(await refresh(intent))
    case .forward(.device): return .response(exchange.tokenRefusal(.here(.grantTypeUnsupported)))
    case .forward(.forward(let form, let client)):
      if let client, let throttled = exchange.throttled(proven: client) { return .response(throttled) }
      return .response(await forward(form))
    }
  }

  /// True if a code or refresh token of the request opens, which it does only for an app that the gateway gave it to.
  private var holdsSealedValue: Bool {
    guard exchange.policy.isObserving else { return false }
    let sealer = exchange.gateway.sealer
    for text in request.parameters.all(.code) {
      if case .value = sealer.opened(text) as Opened<IssuedCode> { return true }
    }
    for text in request.parameters.all(.refreshToken) {
      if case .value = sealer.opened(text) as Opened<RefreshGrant> { return true }
    }
    return false
  }

  // MARK: Codes

  private func redeem(_ intent: RedemptionIntent) async -> Response {
    let opened: Opened<IssuedCode> = exchange.gateway.sealer.opened(intent.code.reveal())
    if case .value(let code) = opened {
      exchange.trail.transaction = code.transactionID
      exchange.trail.note(code.redirectURI)
    }
    let outcome = Enforcement.decideRedemption(intent, opened: opened, policy: exchange.policy, now: exchange.now)
    exchange.trail.note(outcome)
    switch outcome.decision {
    case .reject(let refusal):
      return exchange.throttledVerifier(of: opened, refusal) ?? exchange.tokenRefusal(refusal)
    // A code that opened, or that an enforced client presents, is never observed.
    case .pass: return exchange.tokenRefusal(.here(.codeUnbound))
    case .forward(let permit):
      if let throttled = exchange.throttled(proven: permit.client) { return throttled }
      return await Redemption(exchange, permit).respond()
    }
  }

  // MARK: Refresh tokens

  private func refresh(_ intent: RefreshIntent) async -> Response {
    let outcome = Enforcement.decideRefresh(
      intent, opened: exchange.gateway.sealer.opened(intent.token.reveal()), policy: exchange.policy, now: exchange.now)
    if outcome.permit?.isFromBeforeTheGateway == true { exchange.trail.findings.append("refresh-token-raw") }
    exchange.trail.note(outcome)
    switch outcome.decision {
    case .reject(let refusal): return exchange.tokenRefusal(refusal)
    case .pass: return exchange.tokenRefusal(.here(.refreshTokenUnbound))
    case .forward(let permit):
      // A token that is not sealed says nothing about its client.
      if permit.grant != nil || intent.clientIsProven, let throttled = exchange.throttled(proven: permit.client) {
        return throttled
      }
      return await Renewal(exchange, permit, presented: intent.token).respond()
    }
  }

  // MARK: What has nothing of the gateway's

  private func forward(_ form: UpstreamTokenRequest) async -> Response {
    switch await exchange.askForTokens(form) {
    case .failure(let failure): exchange.tokenFailure(failure)
    case .success(let answer): exchange.answer(answer, isHeld: false)
    }
  }
}

extension Interception {
  /// The answer of the upstream's token endpoint.
  struct UpstreamTokens {
    let status: Int
    let answer: TokenAnswer
  }

  /// Sends a form to the endpoint of the upstream at which the client asked, and reads the answer whole.
  func askForTokens(_ form: UpstreamTokenRequest) async -> Result<UpstreamTokens, UpstreamFailure> {
    do throws(UpstreamFailure) {
      let response = try await post(form, to: String(request.path))
      trail.upstreamStatus = response.head.status
      let body = try await response.content()
      let (answer, isScreened) = TokenAnswer.read(
        status: response.head.status, headers: response.head.headers, body: body, screen: AnswerScreen(form))
      if isScreened { trail.findings.append("answer-screened") }
      if case .error(.invalidClient, _) = answer { countFailedCredentials(form.presented) }
      return .success(UpstreamTokens(status: response.head.status, answer: answer))
    } catch {
      return .failure(error)
    }
  }

  /// Sends a form to a path of the upstream. Every form that the gateway makes goes out here.
  func post(_ form: UpstreamTokenRequest, to path: String) async throws(UpstreamFailure) -> UpstreamResponse {
    var headers: Headers = [
      "Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json", "Accept-Encoding": "identity",
    ]
    if let authorization = form.authorization { headers.append("Authorization", authorization.reveal()) }
    if let agent = request.headers["User-Agent"] { headers.append("User-Agent", agent) }
    return try await upstream.send(
      OutboundRequest(
        method: "POST", target: path, headers: headers, body: Array(form.body.reveal().utf8), peer: request.peer))
  }

  /// The client's answer to what the upstream said. `isHeld`: the gateway's credentials were used, so a complaint about
  /// them is not the client's fault.
  func answer(_ upstream: UpstreamTokens, isHeld: Bool) -> Response {
    switch upstream.answer {
    case .tokens(let members): return tokens(members)
    case .error(.invalidClient, _) where isHeld: return tokenRefusal(.here(.upstreamFailed))
    case .error(let code, let description):
      switch code {
      case .serverError: return tokenRefusal(.here(.upstreamFailed))
      case .temporarilyUnavailable: return tokenRefusal(.here(.upstreamUnavailable))
      default:
        trail.refused(.upstreamError)
        return tokenError(code, status: code == .invalidClient ? 401 : 400, description: description)
      }
    case .unusable:
      let isBusy = upstream.status == 503 || upstream.status == 429
      return tokenRefusal(.here(isBusy ? .upstreamUnavailable : .upstreamFailed))
    }
  }
}
