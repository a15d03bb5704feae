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

  /// The result of `validate`: a valid request of a signed-in user, or the response to any other request, i.e. an error
  /// or a redirect to the login page.
  private enum Validation {
    case valid(ValidRequest)
    case response(Response)
  }

  /// Handles an authorization request. Shows the consent page, or redirects with a code if a remembered consent exists.
  func authorize(_ request: LegacyRequest, now: UnixTime) -> Response {
    switch validate(request, request.query, now: now) {
    case .response(let response): return response
    case .valid(let valid):
      let consentKey = "\(valid.user) \(valid.client.id)"
      let hasConsented = state.withLock { $0.consents.value(for: consentKey, now: now) != nil }
      if configuration.quirks.remembersConsent, hasConsented { return issueCode(for: valid, now: now) }
      return LegacyPage.consent(
        client: valid.client, user: valid.user, parameters: valid.parameters, path: String(request.http.path))
    }
  }

  /// Handles the submission of the consent form, which contains the authorization request in hidden fields.
  func handleConsent(_ request: LegacyRequest, now: UnixTime) -> Response {
    var parameters = request.query
    parameters.fields += request.body.fields
    let isApproved = parameters["confirm"] == "yes"
    parameters.remove("confirm")
    switch validate(request, parameters, now: now) {
    case .response(let response): return response
    case .valid(let valid):
      guard isApproved else {
        return errorResponse("access_denied", at: valid.redirectURI, state: valid.parameters["state"])
      }
      return issueCode(for: valid, now: now)
    }
  }

  /// Checks the request in this order: client, redirect URI, other parameters, session of the user.
  private func validate(_ request: LegacyRequest, _ parameters: Form, now: UnixTime) -> Validation {
    let quirks = configuration.quirks
    guard let client = client(parameters["client_id"]) else {
      return .response(
        LegacyPage.message(status: 400, "Unknown application", "This application is not registered here."))
    }
    let redirectURI = parameters["redirect_uri"] ?? client.redirectURI
    guard redirectURI == client.redirectURI else {
      return .response(
        quirks.redirectsErrorsAnywhere
          ? errorResponse("invalid_request", at: redirectURI, state: parameters["state"])
          : LegacyPage.message(
            status: 400, "Wrong address", "The application asked for an address that is not registered for it."))
    }
    let state = parameters["state"]
    if let limit = quirks.stateLimit, let state, state.utf8.count > limit {
      return .response(LegacyPage.message(status: 500, "Internal error", "Data too long for column 'state' at row 1"))
    }
    if quirks.refusesPKCEParameters, parameters["code_challenge"] != nil {
      return .response(errorResponse("invalid_request", at: redirectURI, state: nil))
    }
    guard parameters["response_type"] == "code" else {
      return .response(errorResponse("unsupported_response_type", at: redirectURI, state: state))
    }
    guard let user = user(of: request, now: now) else {
      // After the login, the browser repeats this request as a GET, even if it was the POST of a consent form.
      let next = parameters.added(to: String(request.http.path))
      return .response(
        LegacyAuthorizationServer.redirect(to: Form(dictionaryLiteral: ("next", next)).added(to: "/login")))
    }
    return .valid(ValidRequest(client: client, redirectURI: redirectURI, parameters: parameters, user: user))
  }

  private func issueCode(for valid: ValidRequest, now: UnixTime) -> Response {
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
    var parameters: Form = ["code": code]
    if let state = valid.parameters["state"] { parameters.append("state", state) }
    return LegacyAuthorizationServer.redirect(to: parameters.added(to: valid.redirectURI))
  }

  private func challenge(_ parameters: Form) -> CodeChallenge? {
    guard configuration.quirks.verifiesPKCE, let text = parameters["code_challenge"] else { return nil }
    let method = parameters["code_challenge_method"].flatMap(CodeChallengeMethod.init(rawValue:)) ?? .plain
    return CodeChallenge(text: text, method: method)
  }

  private func errorResponse(_ error: String, at redirectURI: String, state: String?) -> Response {
    guard !configuration.quirks.errorsAsPages else {
      return LegacyPage.message(status: 200, "Authorization failed", "Error: \(error)")
    }
    var parameters: Form = ["error": error]
    if let state { parameters.append("state", state) }
    return LegacyAuthorizationServer.redirect(to: parameters.added(to: redirectURI))
  }
}
