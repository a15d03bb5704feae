public import OAuth
public import Policy
public import Time

/// Permission to send an authorization request upstream. The request has passed all rules. Only `Enforcement` can
/// create a permit.
public final class AuthorizationPermit: Sendable {
  /// The client that sent the request, with its settings in the policy.
  public let client: Client
  /// The redirect URI that receives the response: the requested one, or the only registered one if the request omitted
  /// it.
  public let redirectURI: RedirectURI
  /// True if the request contained `redirect_uri`. The token request must then repeat it (RFC 6749, section 4.1.3),
  /// except under the OAuth 2.1 profile if the client sent a code challenge.
  public let redirectURIWasSent: Bool
  /// The code challenge of the client; `nil` if the client sent none.
  public let challenge: CodeChallenge?
  /// The mode in which the client receives the response.
  public let responseMode: ResponseMode
  /// The `state` of the client; `nil` if the client sent none.
  public let state: String?
  /// The requested scope; `nil` if the request omitted it. That of a client that the policy does not list has only the
  /// tokens that the client may have, or the default.
  public let scope: Scope?
  /// The scope in the upstream request, which the consent page shows: without the scope tokens that the policy drops,
  /// with the default scope and the tokens of the resource and of `scopes.add`. `nil` if the request has none.
  public let upstreamScope: Scope?
  /// The requested resource (RFC 8707); `nil` if the request names none, or if the policy lists no resources.
  public let resource: Resource?
  /// True if the gateway shows its consent page before it sends the request upstream (invariant `I-consent`).
  public let needsConsent: Bool
  /// The client id in the upstream request.
  public let upstreamClientID: ClientID
  /// The redirect URI in the upstream request.
  public let upstreamRedirectURI: String
  /// True if the upstream supports PKCE. The caller then creates a verifier for the transaction, and sends its
  /// challenge upstream.
  public let upstreamUsesPKCE: Bool
  /// The decoded parameters of the upstream request, without `state` and the gateway's code challenge. They are built
  /// from parsed values, and ``upstreamQuery(state:challenge:)`` encodes them, so that the client's query is never
  /// forwarded as sent (invariant `I-request`).
  public let parameters: [FormParameters.Entry]
  /// The destination of responses to the client. It also determines whether an error is a redirect or a page.
  public let redirect: VerifiedRedirect
  /// True if the request signs a user in for a device flow (RFC 8628).
  public let isDeviceFlow: Bool

  /// Creates the permit of a sign-in for a device flow. The user decides on the gateway's confirmation page after the
  /// sign-in, so there is no consent page before it.
  init(
    deviceClient client: Client, redirect: VerifiedRedirect, scope: Scope?, upstreamScope: Scope?, resource: Resource?,
    upstreamRedirectURI: String, upstreamUsesPKCE: Bool, parameters: [FormParameters.Entry]
  ) {
    self.client = client
    self.redirect = redirect
    self.scope = scope
    self.upstreamScope = upstreamScope
    self.resource = resource
    self.upstreamRedirectURI = upstreamRedirectURI
    self.upstreamUsesPKCE = upstreamUsesPKCE
    self.parameters = parameters
    redirectURI = redirect.redirectURI
    redirectURIWasSent = false
    challenge = nil
    responseMode = redirect.mode
    state = nil
    needsConsent = false
    upstreamClientID = client.upstream.clientID
    isDeviceFlow = true
  }

  init?(_ context: AuthorizationContext) {
    guard let client = context.client, let redirect = context.verifiedRedirect else { return nil }
    self.client = client
    self.redirect = redirect
    isDeviceFlow = false
    redirectURI = redirect.redirectURI
    redirectURIWasSent = context.redirect.wasSent
    challenge = context.challenge.value
    responseMode = redirect.mode
    state = redirect.state
    let requestedScope = context.parameters[.scope].flatMap { Scope(parsing: $0) }
    // `appliesDefault`: if no scope is left for the upstream, the default scope of the policy is sent.
    let rest = UpstreamScope(requestedScope, client: client, policy: context.policy, appliesDefault: true)
    // The default of a client that the policy does not list is sealed, so that a narrower policy can be applied to the
    // grant later.
    scope = requestedScope?.limited(to: client.allowedScopes) ?? (client.isUnlisted ? rest.scope : nil)
    resource = context.requestedResource.resource
    upstreamScope = rest.scopeOfSignIn(for: resource)
    needsConsent = context.needsConsent
    upstreamClientID = client.upstream.clientID
    upstreamRedirectURI = client.upstreamRedirectURI(for: redirect.redirectURI, context.policy)
    upstreamUsesPKCE = context.policy.upstream.usesPKCE
    parameters = AuthorizationPermit.upstreamParameters(
      context, client: client, redirectURI: upstreamRedirectURI, scope: upstreamScope)
  }

  /// Returns the value of `parameters`. `redirectURI` and `scope` are those of the upstream request.
  private static func upstreamParameters(
    _ context: AuthorizationContext, client: Client, redirectURI: String, scope: Scope?
  ) -> [FormParameters.Entry] {
    var entries: [FormParameters.Entry] = []
    entries.reserveCapacity(8)
    entries.append(FormParameters.Entry(.responseType, "code"))
    entries.append(FormParameters.Entry(.clientID, client.upstream.clientID.rawValue))
    entries.append(FormParameters.Entry(.redirectURI, redirectURI))
    if let scope { entries.append(FormParameters.Entry(.scope, scope.text)) }
    if let resource = context.requestedResource.resource { entries += resource.upstreamEntries(sendsAudience: true) }
    let forwardsOthers = !context.policy.upstream.parameters.isEmpty
    let dropsClaims = client.mayNotRequestClaims(at: context.redirect.verified)
    let requested = context.parameters.entries.span
    // Read the entries in place: a copy of an entry would change the reference counts of its two strings.
    for index in requested.indices where !requested[index].value.isEmpty {
      let isForwarded =
        ParameterNames.openIDConnect.contains(requested[index].parameter)
        || forwardsOthers && !ParameterNames.reservedForGateway.contains(requested[index].parameter)
          && context.policy.forwards(requested[index], for: client)
      if dropsClaims, requested[index].parameter == .claims { continue }
      if isForwarded { entries.append(requested[index]) }
    }
    return entries
  }

  /// True if the request comes from a start ticket: the sealed request in the link by which a user restarts a sign-in.
  public var isRestarted: Bool { redirect.isRestarted }

  /// Returns the query of the upstream request. It contains the sealed state, or a short random handle for it, in place
  /// of the client's `state`.
  /// - Parameters:
  ///   - state: The value of `state` for the upstream.
  ///   - challenge: The challenge of the gateway; `nil` if the upstream does not support PKCE. The challenge of the
  ///     client is never sent upstream.
  ///   - prefix: The text in front of the query in the result.
  ///   - separator: The text between the prefix and the query.
  public func upstreamQuery(
    state: String, challenge: CodeChallenge? = nil, after prefix: String = "", _ separator: String = ""
  ) -> String {
    var entries = parameters
    if let challenge {
      entries.append(FormParameters.Entry(.codeChallenge, challenge.text))
      entries.append(FormParameters.Entry(.codeChallengeMethod, challenge.method.rawValue))
    }
    return FormEncoding.serialise(entries, appending: FormParameters.Entry(.state, state), to: prefix, separator)
  }

  /// Returns the content of the sealed state.
  ///
  /// - Parameters:
  ///   - id: The id of the transaction: new random bits, or the id that the consent page already used.
  ///   - expiry: The time at which the transaction expires.
  ///   - browserSecretHash: The SHA-256 digest of the secret in the browser's cookie.
  ///   - upstreamVerifier: The verifier whose challenge is sent upstream; `nil` if the upstream does not support PKCE.
  ///   - document: The metadata with which the request was decided, if the id of the client is the URL of its document.
  ///   - registration: The outline of the client's registration, if the gateway issued the id.
  public func transaction(
    id: TransactionID, expiry: UnixTime, browserSecretHash: [UInt8], upstreamVerifier: UpstreamVerifier? = nil,
    document: ClientMetadata? = nil, registration: RegistrationOutline? = nil
  ) -> AuthorizationTransaction {
    let binding = FlowBinding(
      clientID: client.id, redirectURI: redirectURI, redirectURIWasSent: redirectURIWasSent, challenge: challenge,
      scope: scope, upstreamClientID: upstreamClientID, upstreamRedirectURI: upstreamRedirectURI,
      upstreamVerifier: upstreamVerifier, resource: resource?.uri.text, document: document, registration: registration)
    return AuthorizationTransaction(
      id: id, binding: binding, state: state, responseMode: responseMode, isDeviceFlow: isDeviceFlow,
      hasFurtherParameters: hasFurtherParameters, expiry: expiry, browserSecretHash: browserSecretHash)
  }

  /// True if the upstream request has a parameter of the client that the transaction does not contain. Parameters that
  /// only change what the user sees do not count.
  private var hasFurtherParameters: Bool {
    if isDeviceFlow { return false }
    let contained: ParameterNames =
      resource == nil ? .restorable : [.restorable, ParameterNames(.resource, .audience)]
    return parameters.contains { !contained.contains($0.parameter) }
  }

  /// Returns the error response for a problem that occurs after this permit: the user denied access on the consent
  /// page, the upstream failed (invariant `I-failure`), or the store is full or unavailable.
  ///
  /// If the request was restarted, the response is a page without a link to the client. Otherwise it is a page with
  /// such a link if the operator does not vouch for the client, and a redirect to the client if the operator does. A
  /// rejection that may not redirect always gets the page without a link.
  public func errorResponse(for rejection: Rejection) -> RejectionResponse {
    RejectionResponse(rejection, delivery: redirect.errorDelivery)
  }
}

extension ParameterNames {
  /// The parameters that a transaction contains, and those that only change what the user sees.
  fileprivate static let restorable: ParameterNames = [
    authorization, pkce, ParameterNames(.responseMode, .display, .uiLocales, .claimsLocales),
  ]

  /// The parameters that `upstream.parameters` cannot forward from an authorization request: the gateway sets them
  /// itself, or they could replace values that it has checked.
  static let reservedForGateway: ParameterNames = [
    authorization, pkce, requestObjects, ParameterNames(.responseMode),
  ]
}

extension Client {
  /// Returns the redirect URI for the upstream request.
  func upstreamRedirectURI(for requested: RedirectURI, _ policy: Policy) -> String {
    switch self.upstream.redirectURI {
    case .callback: policy.callback
    case .requested: requested.text
    case .fixed(let text): text
    }
  }
}
