public import OAuth
public import Policy

/// Permission to send an authorization request upstream; every value in it is verified. Only `Enforcement` can create
/// it.
public final class AuthorizationPermit: Sendable {
  /// The client that sent the request, as the policy has it.
  public let client: Client
  /// The redirect URI that receives the response: the requested one, or the registered one if the request omitted it.
  public let redirectURI: RedirectURI
  /// True if the request contained `redirect_uri`; the token request must then repeat it (RFC 6749, section 4.1.3).
  public let redirectURIWasSent: Bool
  /// The code challenge of the client; `nil` if the client sent none.
  public let challenge: CodeChallenge?
  /// The mode in which the client receives the response.
  public let responseMode: ResponseMode
  /// The `state` of the client; `nil` if the client sent none.
  public let state: String?
  /// The requested scope; `nil` if the request omitted it.
  public let scope: Scope?
  /// True if the consent page of the gateway comes before the upstream is contacted (`I-consent`).
  public let needsConsent: Bool
  /// The client identifier for the upstream request.
  public let upstreamClientID: ClientID
  /// The redirect URI for the upstream request.
  public let upstreamRedirectURI: String
  /// True if the upstream supports PKCE: the transaction then has a verifier that the gateway creates.
  public let sendsChallenge: Bool
  /// The parameters for the upstream, except `state` and the gateway's challenge: re-serialised from the parsed values,
  /// never the bytes of the client (`I-request`).
  public let parameters: [FormParameters.Entry]
  /// The destination of upstream errors.
  public let redirect: VerifiedRedirect

  init?(_ context: AuthorizationContext) {
    guard let client = context.client, let redirect = context.verifiedRedirect else { return nil }
    self.client = client
    self.redirect = redirect
    redirectURI = redirect.redirectURI
    redirectURIWasSent = context.redirect.wasSent
    challenge = context.challenge.value
    responseMode = redirect.mode
    state = redirect.state
    scope = context.parameters[.scope].flatMap { Scope(parsing: $0) }
    needsConsent = context.needsConsent
    upstreamClientID = client.upstream.clientID
    upstreamRedirectURI = client.upstreamRedirectURI(for: redirect.redirectURI, context.policy)
    sendsChallenge = context.policy.upstream.usesPKCE
    parameters = AuthorizationPermit.upstreamParameters(
      context, client: client, redirectURI: upstreamRedirectURI,
      scope: UpstreamScope(scope, client: client, policy: context.policy, takesDefault: true).scope)
  }

  private static func upstreamParameters(
    _ context: AuthorizationContext, client: Client, redirectURI: String, scope: Scope?
  ) -> [FormParameters.Entry] {
    var entries: [FormParameters.Entry] = []
    entries.reserveCapacity(8)
    entries.append(FormParameters.Entry(.responseType, "code"))
    entries.append(FormParameters.Entry(.clientID, client.upstream.clientID.rawValue))
    entries.append(FormParameters.Entry(.redirectURI, redirectURI))
    if let scope { entries.append(FormParameters.Entry(.scope, scope.text)) }
    let allowed = context.policy.upstream.parameters
    // The consent page does not show `claims` (OpenID Connect Core, section 5.5), so the user could not approve them.
    let dropsClaims = context.needsConsent && !client.isProven(at: context.redirect.verified)
    let requested = context.parameters.entries.span
    // Iterates the span in place: copying an entry would retain both of its texts.
    for index in requested.indices where !requested[index].value.isEmpty {
      let isForwarded =
        ParameterNames.openIDConnect.contains(requested[index].parameter)
        || !allowed.isEmpty && allowed.contains(requested[index].name)
          && !ParameterNames.reservedForGateway.contains(requested[index].parameter)
      if dropsClaims, requested[index].parameter == .claims { continue }
      if isForwarded { entries.append(requested[index]) }
    }
    return entries
  }

  /// True if the request was opened from a start ticket.
  public var isRestarted: Bool { redirect.keepsErrors }

  /// The query of the upstream request, with a sealed state in place of the client's `state`.
  /// - Parameters:
  ///   - state: The sealed state.
  ///   - challenge: The challenge of the gateway, if the upstream supports PKCE. The challenge of the client is never
  ///     sent upstream.
  public func upstreamQuery(state: String, challenge: CodeChallenge? = nil) -> String {
    var entries = parameters
    if let challenge {
      entries.append(FormParameters.Entry(.codeChallenge, challenge.text))
      entries.append(FormParameters.Entry(.codeChallengeMethod, challenge.method.rawValue))
    }
    return FormEncoding.serialise(entries, then: FormParameters.Entry(.state, state))
  }

  /// The content of the sealed state.
  ///
  /// - Parameters:
  ///   - id: Fresh random bits.
  ///   - expiry: The time at which the transaction expires, in seconds since 1970.
  ///   - browserSecretHash: The SHA-256 digest of the browser secret.
  ///   - upstreamVerifier: The verifier whose challenge is sent upstream; `nil` unless ``sendsChallenge``.
  public func transaction(
    id: TransactionID, expiry: Int64, browserSecretHash: [UInt8], upstreamVerifier: UpstreamVerifier? = nil
  ) -> AuthorizationTransaction {
    AuthorizationTransaction(
      id: id, clientID: client.id, redirectURI: redirectURI, redirectURIWasSent: redirectURIWasSent, state: state,
      challenge: challenge, responseMode: responseMode, scope: scope, upstreamClientID: upstreamClientID,
      upstreamRedirectURI: upstreamRedirectURI, upstreamVerifier: upstreamVerifier, expiry: expiry,
      browserSecretHash: browserSecretHash)
  }

  /// The refusal for the client when the user denied access on the consent page or the upstream failed (`I-failure`).
  /// For a client that registered itself, the user gets a link instead of a redirect.
  public func refusal(_ rejection: Rejection) -> RejectionResponse {
    RejectionResponse(rejection, delivery: redirect.delivery)
  }
}

extension ParameterNames {
  /// The parameters that no allow-list can forward: the gateway sets them itself, or they could replace checked values.
  static let reservedForGateway: ParameterNames = [
    authorization, pkce, requestObjects, ParameterNames(.responseMode),
  ]
}

extension Client {
  /// The redirect URI that the upstream sees.
  func upstreamRedirectURI(for requested: RedirectURI, _ policy: Policy) -> String {
    switch self.upstream.redirectURI {
    case .callback: policy.callback
    case .requested: requested.text
    case .fixed(let text): text
    }
  }
}
