import Cryptography
public import OAuth
public import Policy

/// The facts for the rules on requests that clients send directly: token requests, pushed authorization requests and
/// revocations. They do not include the content of a sealed code or refresh token.
struct TokenContext: FormContext {
  /// The result of authenticating the client.
  enum AuthenticationResult: Sendable {
    /// The client is public. It is identified by its id, but not authenticated.
    case publicClient
    /// The client presented the right secret.
    case verified
    /// The client presented credentials that only the upstream can compare.
    case leftToUpstream
    /// A confidential client presented no credentials, or `TokenContext.client` is `nil`.
    case missing
    /// The credentials are wrong, or the client may not use credentials of this kind.
    case wrong
  }

  let request: TokenRequest
  let policy: Policy
  let mode: EnforcementMode
  let authentication: ClientAuthentication?
  let authenticationError: ClientAuthenticationError?
  /// The client of the request. `nil` if the request does not name a client of the policy, or if the client's
  /// authentication is ambiguous or malformed (`authenticationError`).
  let client: Client?
  let authenticationResult: AuthenticationResult

  init(request: TokenRequest, policy: Policy, mode: EnforcementMode = .enforce, unlisted: Client? = nil) {
    self.request = request
    self.policy = policy
    self.mode = mode
    let result = Result { () throws(ClientAuthenticationError) in try request.clientAuthentication() }
    switch result {
    case .success(let authentication):
      self.authentication = authentication
      authenticationError = nil
    case .failure(let error):
      authentication = nil
      authenticationError = error
    }
    client = authentication.flatMap { Client.find($0.clientID.rawValue, in: policy, unlisted: unlisted) }
    authenticationResult = TokenContext.result(of: authentication, for: client)
  }

  var parameters: FormParameters { request.parameters }
  var definedParameters: ParameterNames { request.definedParameters }
  var defect: RequestDefect? { request.defect }
  /// The scope in the request. `nil` if a code is redeemed, because `scope` has no meaning in this request.
  var requestedScope: Scope? {
    grant == .authorizationCode ? nil : parameters[.scope].flatMap { Scope(parsing: $0) }
  }
  var grant: GrantType? { parameters[.grantType].flatMap(GrantType.init(rawValue:)) }

  /// The verifier to compare. `nil` if `client` is `nil`, or if the request has no verifier or a malformed one.
  var verifier: CodeVerifier? {
    guard let client, let text = parameters[.codeVerifier] else { return nil }
    return CodeVerifier(parsing: text, syntax: client.verifierSyntax)
  }

  private static func result(
    of authentication: ClientAuthentication?, for client: Client?
  ) -> AuthenticationResult {
    guard let client, let authentication else { return .missing }
    guard client.kind == .confidential else { return .publicClient }
    guard authentication.method != .none else { return .missing }
    guard let expected = client.expectedSecret else {
      // The gateway has no secret to compare. Only the upstream can authenticate the client, and only if the client has
      // the same id there.
      return client.upstream.clientID == client.id ? .leftToUpstream : .wrong
    }
    return authentication.matches(expected) ? .verified : .wrong
  }
}

/// A token request that has passed the rules of the token endpoint. Its code or refresh token is not decrypted yet.
public enum CheckedTokenRequest: Sendable {
  case redeem(RedemptionRequest)
  case refresh(RefreshRequest)
  /// A request for the result of a device authorization (RFC 8628, section 3.4).
  case device(DevicePoll)
  /// A request without a code or refresh token (the client credentials grant), which is sent upstream. `verifiedClient`
  /// is the client if the gateway has compared the client's secret and the secret was right, otherwise `nil`. The target
  /// is the client and the resource of the access token.
  case sendUpstream(UpstreamTokenRequest, verifiedClient: Client?, AccessTokenTarget)

  /// The client of the request; `nil` for ``sendUpstream(_:verifiedClient:_:)``.
  public var client: Client? {
    switch self {
    case .redeem(let request): request.client
    case .refresh(let request): request.client
    case .device(let poll): poll.client
    case .sendUpstream: nil
    }
  }
}

/// The result of decrypting a sealed value.
public enum Opened<Value: Sendable>: Sendable {
  /// The content of the value.
  case value(Value)
  /// The value was not sealed by a gateway with this issuer, was altered, was sealed for another purpose, or was sealed
  /// with a key that is retired.
  case invalid
  /// The value was sealed with a key that this replica does not know: a new key that it has not loaded yet, or the key
  /// of another deployment.
  case keyUnknown
}

extension Enforcement {
  /// Decides a token request (RFC 6749, section 3.2), as far as possible without the content of its code or refresh
  /// token.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - policy: The current policy.
  ///   - holdsSealedValue: True if the gateway can decrypt the code, refresh token or device code. The request is then enforced in
  ///     every mode.
  ///   - unlisted: The client of the request if the policy does not list it (`UnlistedClientRules`); `nil` if there is
  ///     none.
  public static func decideToken(
    _ request: TokenRequest, policy: Policy, holdsSealedValue: Bool = false, unlisted: Client? = nil
  ) -> DecisionWithFindings<CheckedTokenRequest> {
    runRules(
      on: request, policy: policy, holdsSealedValue: holdsSealedValue, keepsTrace: false, unlisted: unlisted
    ).outcome
  }

  /// Returns the decision of `decideToken`, and the verdict of every rule that ran.
  public static func explainToken(
    _ request: TokenRequest, policy: Policy, holdsSealedValue: Bool = false
  ) -> (outcome: DecisionWithFindings<CheckedTokenRequest>, trace: [TraceStep]) {
    runRules(on: request, policy: policy, holdsSealedValue: holdsSealedValue, keepsTrace: true)
  }

  private static func runRules(
    on request: TokenRequest, policy: Policy, holdsSealedValue: Bool, keepsTrace: Bool, unlisted: Client? = nil
  ) -> (outcome: DecisionWithFindings<CheckedTokenRequest>, trace: [TraceStep]) {
    let isEnforced = holdsSealedValue || unlisted != nil
    let context = TokenContext(
      request: request, policy: policy, mode: isEnforced ? .enforce : mode(of: request, policy: policy),
      unlisted: unlisted)
    var run = RuleRun(mode: context.mode, keepsTrace: keepsTrace)
    let decision: Decision<CheckedTokenRequest> =
      switch run.run(RuleTable.token, on: context) {
      case .refused(let rejection, let detail): .reject(RejectionResponse(rejection, detail: detail))
      case .allowed where context.mode == .observe: .pass(PassThroughPermit())
      case .allowed: checkedRequest(context).map(Decision.forward) ?? .reject(RejectionResponse(.grantTypeUnsupported))
      }
    return (DecisionWithFindings(decision: decision, findings: run.findings), run.trace)
  }

  private static func checkedRequest(_ context: TokenContext) -> CheckedTokenRequest? {
    guard let client = context.client, let authentication = context.authentication, let grant = context.grant else {
      return nil
    }
    let parameters = context.parameters
    let secretIsVerified = if case .verified = context.authenticationResult { true } else { false }
    switch grant {
    case .authorizationCode:
      guard let code = parameters[.code] else { return nil }
      return .redeem(
        RedemptionRequest(
          client: client, code: Secret(code), redirectURI: parameters[.redirectURI], verifier: context.verifier,
          verifierWasSent: parameters[.codeVerifier] != nil, authentication: authentication,
          clientSecretIsVerified: secretIsVerified, parameters: parameters))
    case .refreshToken:
      guard let token = parameters[.refreshToken] else { return nil }
      return .refresh(
        RefreshRequest(
          client: client, token: Secret(token), scope: parameters[.scope].flatMap { Scope(parsing: $0) },
          authentication: authentication, clientSecretIsVerified: secretIsVerified, parameters: parameters))
    case .deviceCode:
      guard let deviceCode = parameters[.deviceCode] else { return nil }
      return .device(
        DevicePoll(
          client: client, deviceCode: Secret(deviceCode), authentication: authentication, parameters: parameters))
    case .clientCredentials:
      // The credentials that the gateway holds are never used for this grant.
      var entries = [FormParameters.Entry(.grantType, grant.rawValue)]
      let requestedScope = parameters[.scope].flatMap { Scope(parsing: $0) }
      let resource = context.requestedResource.resource
      let scope = UpstreamScope(requestedScope, client: client, policy: context.policy, appliesDefault: true)
      if let scope = scope.scope(for: resource) { entries.append(FormParameters.Entry(.scope, scope.text)) }
      if let resource { entries += resource.upstreamEntries(sendsAudience: true) }
      entries += context.policy.allowListed(parameters, for: client)
      return .sendUpstream(
        UpstreamTokenRequest(.presented(authentication), parameters: parameters, entries: entries),
        verifiedClient: secretIsVerified ? client : nil,
        AccessTokenTarget(
          client: client, resource: resource, scope: requestedScope, login: requestedScope, family: nil,
          policy: context.policy))
    case .password:
      return nil
    }
  }

  // MARK: Mode

  /// Returns the mode of a request at the token endpoint or at another endpoint that clients call (invariant
  /// `I-observe`). An observed request is forwarded even if a rule refuses it.
  ///
  /// At the token endpoint, the result does not apply if the gateway can decrypt the code or refresh token. Such a
  /// request is always enforced, because a client can only have got such a value from the gateway. The same is true for
  /// a refresh token at the revocation endpoint.
  public static func mode(of request: TokenRequest, policy: Policy) -> EnforcementMode {
    guard policy.isObserving else { return .enforce }
    return policy.mode(forClientIDs: Set(request.namedClients), isUnambiguous: request.namesOneClient)
  }
}

extension Policy {
  /// Returns the parameters of a token request that `upstream.parameters` permits to the client and that have a value.
  /// Parameters that are defined for the token endpoint are omitted, except `resource`.
  func allowListed(_ parameters: FormParameters, for client: Client) -> [FormParameters.Entry] {
    guard !upstream.parameters.isEmpty else { return [] }
    return parameters.entries.filter { entry in
      let isReserved =
        ParameterNames.atToken.contains(entry.parameter) && !ParameterNames.repeatable.contains(entry.parameter)
      return !isReserved && !entry.value.isEmpty && forwards(entry, for: client)
    }
  }

  /// Returns true if `upstream.parameters` permits the parameter to the client.
  ///
  /// A client that the policy does not list may send none of them: the policy limits its scopes and resources, and a
  /// parameter such as `audience` or `authorization_details` could ask the upstream for more. If the policy lists
  /// resources, these determine `resource` and `audience`.
  func forwards(_ entry: FormParameters.Entry, for client: Client) -> Bool {
    guard !client.isUnlisted, upstream.parameters.contains(entry.name) else { return false }
    return resources.isEmpty || entry.parameter != .resource && entry.parameter != .audience
  }
}

extension Client {
  /// The secret with which the gateway compares the presented one. It is the secret in the client's settings. If the
  /// settings contain no secret and the client has the same id at the upstream, it is the upstream secret that the
  /// gateway holds. In all other cases it is `nil`.
  var expectedSecret: Secret? {
    self.secret ?? (self.upstream.clientID == self.id ? self.upstream.clientSecret : nil)
  }
}
