import OAuth
import Policy

/// What the rules of the authorization endpoint look at: the request, what was parsed from it, and the client.
///
/// Computed once; rules only read it, each by reference.
final class AuthorizationContext: FormContext {
  let request: AuthorizationRequest
  let policy: Policy
  /// True if `state` opens as a state that the gateway sealed.
  let stateIsSealed: Bool
  /// True if the request was pushed (RFC 9126).
  let isPushed: Bool
  /// True if it comes out of a start ticket.
  let isRestarted: Bool
  let mode: EnforcementMode
  let client: Client?
  let redirect: RedirectResolution
  /// `nil` where the request has none, or one that does not match the grammar.
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

  /// How an answer travels, errors included: as asked where that is allowed, and else as the response type has it.
  var responseMode: ResponseMode {
    if let asked = parameters[.responseMode].flatMap(ResponseMode.init(rawValue:)), allows(asked) { return asked }
    return responseType?.returnsTokens == true ? .fragment : .query
  }

  func allows(_ mode: ResponseMode) -> Bool {
    guard let client, let uri = redirect.verified else { return false }
    return client.responseModes.contains(mode) && mode.reaches(uri)
  }

  /// True if the gateway's own page asks the user first (`I-consent`).
  var needsConsent: Bool {
    guard let client else { return false }
    switch client.consent {
    case .gateway: return true
    case .upstream: return false
    case .unlessClaimedHTTPS:
      // Nobody vouches for the address of a client that registered itself.
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

  /// The refusal, by redirect where the case says so and the redirect URI is verified.
  func refusal(_ rejection: Rejection, _ detail: Detail?) -> RejectionResponse {
    guard let redirect = verifiedRedirect else { return RejectionResponse(rejection, detail: detail) }
    // Before anybody logged in, a page without a link is all that a client without a voucher gets.
    return RejectionResponse(rejection, delivery: redirect.isSelfRegistered ? .here : redirect.delivery, detail: detail)
  }
}

extension Client {
  /// Identifiers are printable ASCII (RFC 6749, appendix A.1); texts that only look the same are others.
  static func isIdentifier(_ text: String) -> Bool { text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7f } }

  static func find(_ text: String, in policy: Policy) -> Client? {
    isIdentifier(text) ? policy.clients[ClientID(text)] : nil
  }
}
