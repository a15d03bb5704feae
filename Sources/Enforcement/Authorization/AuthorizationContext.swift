import OAuth
import Policy

/// The facts for the rules of the authorization endpoint: the request, the values parsed from it, and the client.
///
/// A class, so that each rule reads it without copying it. The values are computed once, before the rules run.
final class AuthorizationContext: FormContext {
  let request: AuthorizationRequest
  let policy: Policy
  /// True if `state` opens as a state that the gateway sealed.
  let stateIsSealed: Bool
  /// True if the request was pushed (RFC 9126).
  let isPushed: Bool
  /// True if the request was opened from a start ticket.
  let isRestarted: Bool
  let mode: EnforcementMode
  let client: Client?
  let redirect: RedirectResolution
  /// The response type; `nil` if the request has none, or one that does not match the grammar.
  let responseType: ResponseType?
  let challenge: ParsedChallenge

  init(
    request: AuthorizationRequest, policy: Policy, stateIsSealed: Bool, isPushed: Bool = false,
    isRestarted: Bool = false, mode: EnforcementMode = .enforce
  ) {
    self.isRestarted = isRestarted
    self.isPushed = isPushed
    self.mode = mode
    self.request = request
    self.policy = policy
    self.stateIsSealed = stateIsSealed
    let client = request.parameters[.clientID].flatMap { Client.find($0, in: policy) }
    self.client = client
    redirect = RedirectResolution(request.parameters.reading(.redirectURI), client: client)
    responseType = request.parameters[.responseType].flatMap(ResponseType.init(parsing:))
    challenge = ParsedChallenge(request.parameters, client: client)
  }

  var parameters: FormParameters { request.parameters }
  var names: ParameterNames { .atAuthorization }
  var problem: FormProblem? { request.problem }
  var askedScope: Scope? { parameters[.scope].flatMap { Scope(parsing: $0) } }

  /// The mode in which a response is sent, errors included: the requested mode if the client may use it, otherwise the
  /// default of the response type.
  var responseMode: ResponseMode {
    if let asked = parameters[.responseMode].flatMap(ResponseMode.init(rawValue:)), allows(asked) { return asked }
    return responseType?.returnsTokens == true ? .fragment : .query
  }

  func allows(_ mode: ResponseMode) -> Bool {
    guard let client, let uri = redirect.verified else { return false }
    return client.responseModes.contains(mode) && mode.reaches(uri)
  }

  /// True if the consent page of the gateway comes before the upstream (`I-consent`).
  var needsConsent: Bool {
    guard let client else { return false }
    switch client.consent {
    case .gateway: return true
    case .upstream: return false
    case .unlessClaimedHTTPS:
      // A dynamically registered client chose its own address, which therefore proves nothing.
      if case .https = redirect.verified?.kind, client.registration == .policy { return false }
      return true
    }
  }

  var verifiedRedirect: VerifiedRedirect? {
    guard let client, let uri = redirect.verified else { return nil }
    return VerifiedRedirect(
      redirectURI: uri, mode: responseMode, state: parameters[.state], issuer: policy.gateway.issuer,
      isSelfRegistered: client.registration == .dynamic, guardsFragment: client.fragmentGuard,
      keepsErrors: isRestarted)
  }

  /// The refusal, delivered by redirect if the rejection permits it and the redirect URI is verified.
  func refusal(_ rejection: Rejection, _ detail: Detail?) -> RejectionResponse {
    guard let redirect = verifiedRedirect else { return RejectionResponse(rejection, detail: detail) }
    // Until the user has signed in, the error page of an untrusted client has no link (RFC 9700, section 4.11.2).
    return RejectionResponse(rejection, delivery: redirect.isSelfRegistered ? .here : redirect.delivery, detail: detail)
  }
}

extension Client {
  /// True if the text is printable ASCII (RFC 6749, appendix A.1), so that no Unicode equivalence can match another
  /// identifier.
  static func isIdentifier(_ text: String) -> Bool { text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7f } }

  static func find(_ text: String, in policy: Policy) -> Client? {
    isIdentifier(text) ? policy.clients[ClientID(text)] : nil
  }
}
