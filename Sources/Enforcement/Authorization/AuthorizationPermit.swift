public import OAuth
public import Policy

/// Leave to send an authorization request upstream, with everything in it verified. Only this module gives it.
public final class AuthorizationPermit: Sendable {
  public let client: Client
  /// Where the answer will go: as requested, or the registered one that was left out.
  public let redirectURI: RedirectURI
  public let redirectURIWasSent: Bool
  public let challenge: CodeChallenge?
  public let responseMode: ResponseMode
  /// The client's own state.
  public let state: String?
  public let scope: Scope?
  /// True if the gateway's consent page comes before the upstream is contacted (`I-consent`).
  public let needsConsent: Bool
  public let upstreamClientID: ClientID
  public let upstreamRedirectURI: String
  /// True if the upstream understands PKCE: the transaction then has a verifier of the gateway's own.
  public let sendsChallenge: Bool
  /// What goes upstream, `state` and the gateway's challenge aside: re-serialised from what was parsed, never the client's bytes (`I-request`).
  public let parameters: [FormParameters.Entry]
  /// Where errors of the upstream go.
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
    // The gateway's page does not show `claims` (OpenID Connect Core, section 5.5), and the user would not know of them.
    let dropsClaims = context.needsConsent && !client.isProven(at: context.redirect.verified)
    let requested = context.parameters.entries.span
    // In their places: a copy of each would count references to both texts.
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

  /// True if the request comes out of a start ticket.
  public var isRestarted: Bool { redirect.keepsErrors }

  /// The query of the upstream request, with the state that takes the place of the client's own.
  ///
  /// - Parameter challenge: The gateway's own, if the upstream understands PKCE. The client's stays here.
  public func upstreamQuery(state: String, challenge: CodeChallenge? = nil) -> String {
    var entries = parameters
    if let challenge {
      entries.append(FormParameters.Entry(.codeChallenge, challenge.text))
      entries.append(FormParameters.Entry(.codeChallengeMethod, challenge.method.rawValue))
    }
    return FormEncoding.serialise(entries, then: FormParameters.Entry(.state, state))
  }

  /// What is sealed into that state.
  ///
  /// - Parameters:
  ///   - id: Fresh random bits.
  ///   - expiry: Seconds since 1970.
  ///   - browserSecretHash: SHA-256 of the browser secret.
  ///   - upstreamVerifier: The verifier whose challenge goes upstream; `nil` unless ``sendsChallenge``.
  public func transaction(
    id: TransactionID, expiry: Int64, browserSecretHash: [UInt8], upstreamVerifier: UpstreamVerifier? = nil
  ) -> AuthorizationTransaction {
    AuthorizationTransaction(
      id: id, clientID: client.id, redirectURI: redirectURI, redirectURIWasSent: redirectURIWasSent, state: state,
      challenge: challenge, responseMode: responseMode, scope: scope, upstreamClientID: upstreamClientID,
      upstreamRedirectURI: upstreamRedirectURI, upstreamVerifier: upstreamVerifier, expiry: expiry,
      browserSecretHash: browserSecretHash)
  }

  /// What the client is told when the user pressed Deny or the upstream failed (`I-failure`). The user of a client that
  /// nobody vouches for gets a link instead of a redirect.
  public func refusal(_ rejection: Rejection) -> RejectionResponse {
    RejectionResponse(rejection, delivery: redirect.delivery)
  }
}

extension ParameterNames {
  /// What no allow-list can forward: the gateway sets it itself, or it could replace what was checked.
  static let reservedForGateway: ParameterNames = [
    authorization, pkce, requestObjects, ParameterNames(.responseMode),
  ]
}

extension Client {
  /// The redirect URI that the upstream gets to see.
  func upstreamRedirectURI(for requested: RedirectURI, _ policy: Policy) -> String {
    switch self.upstream.redirectURI {
    case .callback: policy.callback
    case .requested: requested.text
    case .fixed(let text): text
    }
  }
}
