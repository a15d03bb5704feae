public import OAuth
public import Policy

extension Enforcement {
  /// Decides a token request (RFC 6749, section 3.2), as far as possible without the content of its code or refresh
  /// token.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - policy: The current policy.
  ///   - holdsSealedValue: True if the gateway can decrypt the code or refresh token. The request is then enforced in
  ///     every mode.
  public static func decideToken(
    _ request: TokenRequest, policy: Policy, holdsSealedValue: Bool = false
  ) -> DecisionWithFindings<CheckedTokenRequest> {
    token(request, policy: policy, holdsSealedValue: holdsSealedValue, keepsTrace: false).outcome
  }

  /// Returns the same decision, and the verdict of every rule that ran.
  public static func explainToken(
    _ request: TokenRequest, policy: Policy, holdsSealedValue: Bool = false
  ) -> (outcome: DecisionWithFindings<CheckedTokenRequest>, trace: [TraceStep]) {
    token(request, policy: policy, holdsSealedValue: holdsSealedValue, keepsTrace: true)
  }

  private static func token(
    _ request: TokenRequest, policy: Policy, holdsSealedValue: Bool, keepsTrace: Bool
  ) -> (outcome: DecisionWithFindings<CheckedTokenRequest>, trace: [TraceStep]) {
    let context = TokenContext(
      request: request, policy: policy, mode: holdsSealedValue ? .enforce : mode(of: request, policy: policy))
    var run = RuleRun(mode: context.mode, keepsTrace: keepsTrace)
    let decision: Decision<CheckedTokenRequest> =
      switch run.run(RuleTable.token, on: context) {
      case .refused(let rejection, let detail): .reject(RejectionResponse(rejection, detail: detail))
      case .allowed where context.mode == .observe: .pass(PassThroughPermit())
      case .allowed: intent(context).map(Decision.forward) ?? .reject(RejectionResponse(.grantTypeUnsupported))
      }
    return (DecisionWithFindings(decision: decision, findings: run.findings), run.trace)
  }

  private static func intent(_ context: TokenContext) -> CheckedTokenRequest? {
    guard let client = context.client, let authentication = context.authentication, let grant = context.grant else {
      return nil
    }
    let parameters = context.parameters
    let isProven = if case .verified = context.proof { true } else { false }
    switch grant {
    case .authorizationCode:
      guard let code = parameters[.code] else { return nil }
      return .redeem(
        RedemptionRequest(
          client: client, code: Secret(code), redirectURI: parameters[.redirectURI], verifier: context.verifier,
          sentVerifier: parameters[.codeVerifier] != nil, authentication: authentication, clientIsProven: isProven,
          parameters: parameters))
    case .refreshToken:
      guard let token = parameters[.refreshToken] else { return nil }
      return .refresh(
        RefreshRequest(
          client: client, token: Secret(token), scope: parameters[.scope].flatMap { Scope(parsing: $0) },
          authentication: authentication, clientIsProven: isProven, parameters: parameters))
    case .deviceCode:
      return parameters[.deviceCode].map { .device(DeviceRequest(client: client, deviceCode: Secret($0))) }
    case .clientCredentials:
      // The credentials that the gateway holds are never used for this grant.
      var entries = [FormParameters.Entry(.grantType, grant.rawValue)]
      let asked = parameters[.scope].flatMap { Scope(parsing: $0) }
      if let scope = UpstreamScope(asked, client: client, policy: context.policy, appliesDefault: true).scope {
        entries.append(FormParameters.Entry(.scope, scope.text))
      }
      entries += context.policy.allowListed(parameters)
      return .forward(
        UpstreamTokenRequest(.presented(authentication), parameters: parameters, entries: entries),
        verified: isProven ? client : nil)
    case .password:
      return nil
    }
  }
}

extension Policy {
  /// Returns the parameters that `upstream.parameters` lists, except those that the token endpoint defines. `resource`
  /// is returned if it is listed.
  func allowListed(_ parameters: FormParameters) -> [FormParameters.Entry] {
    guard !upstream.parameters.isEmpty else { return [] }
    return parameters.entries.filter { entry in
      let isReserved =
        ParameterNames.atToken.contains(entry.parameter) && !ParameterNames.repeatable.contains(entry.parameter)
      return upstream.parameters.contains(entry.name) && !isReserved && !entry.value.isEmpty
    }
  }
}
