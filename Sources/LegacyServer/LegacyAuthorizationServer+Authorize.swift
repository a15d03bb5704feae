import HTTP
import OAuth
import Synchronization
import Time

extension LegacyAuthorizationServer {
  /// A valid authorization request of a signed-in user.
  private struct ValidRequest {
    var client: LegacyClient
    var redirectURI: String
    var parameters: Form
    var user: String
  }

  private enum Checked {
    case valid(ValidRequest)
    case answer(Response)
  }

  func authorize(_ exchange: LegacyRequest, now: UnixTime) -> Response {
    switch check(exchange, exchange.query, now: now) {
    case .answer(let response): return response
    case .valid(let valid):
      let consent = "\(valid.user) \(valid.client.id)"
      let isKnown = state.withLock { $0.consents.value(for: consent, now: now) != nil }
      if configuration.quirks.remembersConsent, isKnown { return grant(valid, now: now) }
      return LegacyPage.consent(
        client: valid.client, user: valid.user, parameters: valid.parameters, path: String(exchange.request.path))
    }
  }

  /// Handles the submitted consent form, which contains the authorization request in hidden fields.
  func decide(_ exchange: LegacyRequest, now: UnixTime) -> Response {
    var parameters = exchange.query
    parameters.fields += exchange.body.fields
    let isApproved = parameters["confirm"] == "yes"
    parameters.remove("confirm")
    switch check(exchange, parameters, now: now) {
    case .answer(let response): return response
    case .valid(let valid):
      guard isApproved else {
        return refuse("access_denied", at: valid.redirectURI, state: valid.parameters["state"])
      }
      return grant(valid, now: now)
    }
  }

  private func check(_ exchange: LegacyRequest, _ parameters: Form, now: UnixTime) -> Checked {
    let quirks = configuration.quirks
    guard let client = client(parameters["client_id"]) else {
      return .answer(LegacyPage.message(status: 400, "Unknown application", "This application is not registered here."))
    }
    let redirectURI = parameters["redirect_uri"] ?? client.redirectURI
    guard redirectURI == client.redirectURI else {
      return .answer(
        quirks.redirectsErrorsAnywhere
          ? refuse("invalid_request", at: redirectURI, state: parameters["state"])
          : LegacyPage.message(
            status: 400, "Wrong address", "The application asked for an address that is not registered for it."))
    }
    let state = parameters["state"]
    if let limit = quirks.stateLimit, let state, state.utf8.count > limit {
      return .answer(LegacyPage.message(status: 500, "Internal error", "Data too long for column 'state' at row 1"))
    }
    if quirks.strictParameters, parameters["code_challenge"] != nil {
      return .answer(refuse("invalid_request", at: redirectURI, state: nil))
    }
    guard parameters["response_type"] == "code" else {
      return .answer(refuse("unsupported_response_type", at: redirectURI, state: state))
    }
    guard let user = user(of: exchange, now: now) else {
      // If the session expired while the form was open, the request is repeated as a GET after the login.
      let next = parameters.added(to: String(exchange.request.path))
      return .answer(
        LegacyAuthorizationServer.redirect(to: Form(dictionaryLiteral: ("next", next)).added(to: "/login")))
    }
    return .valid(ValidRequest(client: client, redirectURI: redirectURI, parameters: parameters, user: user))
  }

  private func grant(_ valid: ValidRequest, now: UnixTime) -> Response {
    let code = LegacyAuthorizationServer.randomText(30)
    let scope = valid.parameters["scope"] ?? "basic"
    let grant = LegacyState.Grant(user: valid.user, clientID: valid.client.id, scope: scope)
    state.withLock { state in
      state.codes.insert(
        LegacyState.Code(
          grant: grant, redirectURI: valid.parameters["redirect_uri"], challenge: challenge(valid.parameters)),
        for: code, now: now)
      if configuration.quirks.remembersConsent {
        state.consents.insert(true, for: "\(valid.user) \(valid.client.id)", now: now)
      }
    }
    var answer: Form = ["code": code]
    if let state = valid.parameters["state"] { answer.append("state", state) }
    return LegacyAuthorizationServer.redirect(to: answer.added(to: valid.redirectURI))
  }

  private func challenge(_ parameters: Form) -> CodeChallenge? {
    guard configuration.quirks.verifiesPKCE, let text = parameters["code_challenge"] else { return nil }
    let method = parameters["code_challenge_method"].flatMap(CodeChallengeMethod.init(rawValue:)) ?? .plain
    return CodeChallenge(text: text, method: method)
  }

  private func refuse(_ error: String, at redirectURI: String, state: String?) -> Response {
    guard !configuration.quirks.errorsAsPages else {
      return LegacyPage.message(status: 200, "Authorization failed", "Error: \(error)")
    }
    var answer: Form = ["error": error]
    if let state { answer.append("state", state) }
    return LegacyAuthorizationServer.redirect(to: answer.added(to: redirectURI))
  }
}
