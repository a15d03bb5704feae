import OAuth
import Policy
import Time

/// The facts for the rules of the authorization endpoint: the request, the values parsed from it, and the client.
///
/// A class, so that rules can read it without a copy. The stored values are computed once, before the rules run.
final class AuthorizationContext: FormContext {
  let request: AuthorizationRequest
  let policy: Policy
  /// True if the gateway can decrypt `state` as a state that it sealed (encrypted and authenticated).
  let stateIsSealed: Bool
  /// True if the request was pushed (RFC 9126).
  let isPushed: Bool
  /// True if the request comes from a start ticket: the sealed request in the link by which a user restarts a sign-in.
  let isRestarted: Bool
  /// The mode in which the rules run: enforce or observe.
  let mode: EnforcementMode
  /// The current time; `nil` if no rule may depend on it, as for a pushed request.
  let now: UnixTime?
  /// The client in the policy, or the unlisted one, as it acts for the requested resource; `nil` if the request names no
  /// known client.
  let client: Client?
  /// The client without the changes that the requested resource makes.
  let registeredClient: Client?
  /// The resource for which the client requests tokens (RFC 8707).
  let requestedResource: RequestedResource
  /// The redirect URI of the request, or the reason why it is refused.
  let redirect: RedirectResolution
  /// The response type; `nil` if the request has none, or a malformed one.
  let responseType: ResponseType?
  /// The code challenge of the request, or the reason why the request has no usable one.
  let challenge: ParsedChallenge

  init(
    request: AuthorizationRequest, policy: Policy, stateIsSealed: Bool, isPushed: Bool = false,
    isRestarted: Bool = false, mode: EnforcementMode = .enforce, now: UnixTime? = nil, unlisted: Client? = nil
  ) {
    self.now = now
    self.isRestarted = isRestarted
    self.isPushed = isPushed
    self.mode = mode
    self.request = request
    self.policy = policy
    self.stateIsSealed = stateIsSealed
    requestedResource = RequestedResource(request.parameters, policy)
    registeredClient = request.parameters[.clientID].flatMap { Client.find($0, in: policy, unlisted: unlisted) }
    let client = registeredClient?.acting(for: requestedResource.resource)
    self.client = client
    redirect = RedirectResolution(request.parameters.lookUp(.redirectURI), client: client)
    responseType = request.parameters[.responseType].flatMap(ResponseType.init(parsing:))
    challenge = ParsedChallenge(request.parameters, client: client)
  }

  var parameters: FormParameters { request.parameters }
  var definedParameters: ParameterNames { .atAuthorization }
  var defect: RequestDefect? { request.defect }
  var requestedScope: Scope? { parameters[.scope].flatMap { Scope(parsing: $0) } }

  /// The mode of the authorization response, which may be an error response: the requested mode if the client may use
  /// it, otherwise the default of the response type.
  var responseMode: ResponseMode {
    let requested = parameters[.responseMode].flatMap(ResponseMode.init(rawValue:))
    if let requested, allows(requested) { return requested }
    return responseType?.returnsTokens == true ? .fragment : .query
  }

  /// Returns true if the client may receive responses in this mode at its verified redirect URI.
  func allows(_ mode: ResponseMode) -> Bool {
    guard let client, let uri = redirect.verified else { return false }
    return client.responseModes.contains(mode) && mode.canReach(uri)
  }

  /// True if the gateway shows its consent page before it sends the request upstream (invariant `I-consent`).
  var needsConsent: Bool {
    client?.needsConsent(at: redirect.verified) ?? false
  }

  /// The destination of responses to the client; `nil` if the client is unknown or its redirect URI is not verified.
  var verifiedRedirect: VerifiedRedirect? {
    guard let client, let uri = redirect.verified else { return nil }
    return VerifiedRedirect(
      redirectURI: uri, mode: responseMode, state: parameters[.state], issuer: policy.gateway.issuer,
      rulesURL: policy.gateway.rulesURL,
      isUntrusted: client.registration != .trusted, appendsFragment: client.fragmentGuard,
      isRestarted: isRestarted)
  }

  /// Returns the error response. The error is redirected to the client if the rejection permits it, the redirect URI is
  /// verified, the operator vouches for the client, and the request is not restarted. Otherwise, the gateway shows the
  /// error on a page.
  func errorResponse(for rejection: Rejection, detail: Detail?) -> RejectionResponse {
    guard let redirect = verifiedRedirect else { return RejectionResponse(rejection, detail: detail) }
    // For a client that the operator does not vouch for, the error page has no link to the client until the user has
    // signed in (RFC 9700, section 4.11.2).
    let delivery: RejectionResponse.Delivery = redirect.isUntrusted ? .withoutRedirect : redirect.errorDelivery
    return RejectionResponse(rejection, delivery: delivery, detail: detail)
  }
}

extension Client {
  /// Returns true if the gateway shows its consent page for a sign-in that ends at the redirect URI.
  func needsConsent(at redirectURI: RedirectURI?) -> Bool {
    switch self.consent {
    case .gateway: return true
    case .upstream: return false
    case .unlessClaimedHTTPS:
      // A client that the operator does not vouch for may have chosen its own https URI, which therefore does not prove
      // its identity.
      if case .https = redirectURI?.kind, self.registration == .trusted { return false }
      return true
    }
  }

  /// Returns true if `claims` is not forwarded. The consent page does not show it (OpenID Connect Core, section 5.5), so
  /// the user cannot approve it if the identity of the client is not proven.
  func mayNotRequestClaims(at redirectURI: RedirectURI?) -> Bool {
    needsConsent(at: redirectURI) && !identityIsProven(by: redirectURI)
  }
}
