public import OAuth
public import Policy
public import Time

/// The facts for the rules on a re-entry: a request that a login or consent page of the upstream sends to the
/// authorization endpoint, with the sealed state.
struct ReentryContext: Sendable {
  let request: AuthorizationRequest
  let transaction: AuthorizationTransaction
  /// The value of `state` that was sent upstream: the sealed state, or a handle for it.
  let sealedState: String
  let client: Client?
  /// The scope of the upstream request, computed from the transaction and the current policy; `nil` if the upstream
  /// request has no scope.
  let upstreamScope: Scope?
  /// The parameters of the upstream request that select the resource, computed in the same way.
  let upstreamResource: [FormParameters.Entry]
  /// True if the policy decides which resources and audiences the client may request.
  let limitsResources: Bool

  /// The parameters that may be in the re-entry only with these values. They were sent upstream, except
  /// `response_mode`, which was omitted and therefore has its default `query`.
  var expectedValues: [(parameter: ParameterName, value: String)] {
    var expected: [(ParameterName, String)] = [
      (.clientID, transaction.upstreamClientID.rawValue), (.redirectURI, transaction.upstreamRedirectURI),
      (.responseType, "code"), (.responseMode, ResponseMode.query.rawValue), (.state, sealedState),
    ]
    if let challenge = transaction.upstreamVerifier?.challenge {
      expected.append((.codeChallenge, challenge.text))
      expected.append((.codeChallengeMethod, challenge.method.rawValue))
    }
    for entry in upstreamResource { entry.parameter.map { expected.append(($0, entry.value)) } }
    return expected
  }

  /// The parameters that were not sent upstream and must not be in the re-entry.
  var unexpectedParameters: ParameterNames {
    var unexpected = ParameterNames.requestObjects
    if transaction.upstreamVerifier == nil { unexpected.formUnion(.pkce) }
    if limitsResources {
      unexpected.formUnion(ParameterNames(.audience, .resource).subtracting(resourceParameters))
    }
    guard let client else { return unexpected }
    if client.isUnlisted { unexpected.insert(ParameterNames(.authorizationDetails)) }
    if transaction.isDeviceFlow || client.mayNotRequestClaims(at: transaction.redirectURI) {
      unexpected.insert(ParameterNames(.claims))
    }
    return unexpected
  }

  /// The parameters that limit the tokens or the use of the code, and that were sent upstream. A link to the authorization
  /// endpoint must have them. A form may omit them, because the upstream may have stored the request.
  var requiredInLink: ParameterNames {
    var required = resourceParameters
    if upstreamScope != nil { required.insert(ParameterNames(.scope)) }
    if transaction.upstreamVerifier != nil { required.formUnion(.pkce) }
    return required
  }

  private var resourceParameters: ParameterNames {
    upstreamResource.reduce(into: []) { names, entry in
      if let parameter = entry.parameter { names.insert(ParameterNames(parameter)) }
    }
  }
}

/// Permission to forward a re-entry unchanged. Only `Enforcement` can create it.
public struct ReentryPermit: Sendable {
  /// The transaction to which the request belongs.
  public let transaction: AuthorizationTransaction
  let redirect: VerifiedRedirect?

  /// Returns the error response for the client if the upstream failed.
  public func errorResponse(for rejection: Rejection) -> RejectionResponse {
    redirect.map { RejectionResponse(rejection, delivery: $0.errorDelivery) } ?? RejectionResponse(rejection)
  }
}

extension Enforcement {
  /// Decides a re-entry: a request to the authorization endpoint whose `state` the gateway can decrypt (invariant
  /// `I-reentry`).
  ///
  /// - Parameters:
  ///   - request: The request. One of its `states` is `sealedState`.
  ///   - sealedState: The value of `state` that was sent upstream: the sealed state, or a handle for it.
  ///   - transaction: The content of that state.
  ///   - browserMatches: True if the request contains the secret of the browser that began the transaction.
  ///   - policy: The current policy.
  ///   - now: The current time.
  ///   - unlisted: The client of the transaction if the policy does not list it; `nil` if there is none.
  public static func decideReentry(
    _ request: AuthorizationRequest, sealedState: String, transaction: AuthorizationTransaction,
    browserMatches: Bool, policy: Policy, now: UnixTime, unlisted: Client? = nil
  ) -> DecisionWithFindings<ReentryPermit> {
    guard request.defect != .method else {
      return DecisionWithFindings(decision: .reject(.withoutRedirect(.methodNotAllowed)), findings: [])
    }
    let transactionContext = TransactionContext(
      transaction: transaction, policy: policy, now: now, browserMatches: browserMatches, unlisted: unlisted)
    let (client, resource) = (transactionContext.client, transactionContext.resource)
    let reentryContext = ReentryContext(
      request: request, transaction: transaction, sealedState: sealedState, client: client,
      upstreamScope: UpstreamScope(transaction.scope, client: client, policy: policy, appliesDefault: true)
        .scopeOfSignIn(for: resource),
      upstreamResource: resource?.upstreamEntries(sendsAudience: true) ?? [],
      limitsResources: !policy.resources.isEmpty || client?.isUnlisted == true)
    // A re-entry is enforced in every mode, because the gateway began the transaction.
    var run = RuleRun(mode: .enforce)
    for outcome in [
      run.run(RuleTable.transaction, on: transactionContext), run.run(RuleTable.reentry, on: reentryContext),
    ] {
      if case .refused(let rejection, let detail) = outcome {
        return DecisionWithFindings(
          decision: .reject(RejectionResponse(rejection, detail: detail)), findings: run.findings)
      }
    }
    return DecisionWithFindings(
      decision: .forward(ReentryPermit(transaction: transaction, redirect: transactionContext.redirect)),
      findings: run.findings)
  }

  /// Decides a POST to the authorization endpoint without OAuth parameters: a login or consent form of the upstream
  /// (invariant `I-reentry`).
  ///
  /// If the browser has a transaction in progress, the form belongs to it: the decision is `.forward` or a refusal.
  ///
  /// If the browser has none, the form may belong to the sign-in of an observed client. The decision is then `.pass` if
  /// the policy observes any requests, and a refusal otherwise. If the policy also enforces a client, a form that
  /// cannot be read is refused too, because it could contain the id of that client.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - hasRunningTransaction: True if the browser has a transaction that has not expired, according to its cookie.
  ///   - policy: The current policy.
  public static func decideForm(
    _ request: AuthorizationRequest, hasRunningTransaction: Bool, policy: Policy
  ) -> Decision<PassThroughPermit> {
    guard hasRunningTransaction else {
      let mayPass = policy.isObserving && !(policy.isEnforcing && (request.hasNonFormBody || request.defect != nil))
      return mayPass ? .pass(PassThroughPermit()) : .reject(.withoutRedirect(.formWithoutTransaction))
    }
    if let defect = request.defect {
      switch defect {
      case .method: return .reject(.withoutRedirect(.methodNotAllowed))
      case .bodyNotForm, .tooManyParameters, .parametersInQuery:
        return .reject(.withoutRedirect(.reentryBodyUnreadable))
      case .parametersInQueryAndBody: return .reject(.withoutRedirect(.parametersSplit))
      }
    }
    // A form with OAuth parameters, or with a name that some server reads as one, could change the request that the
    // gateway has checked.
    let hasOAuthParameters = request.parameterSources.contains {
      AuthorizationRequest.hasOAuthParameters($0) || $0.contains(.audience) || $0.hasLookalikeName
    }
    guard !hasOAuthParameters else {
      return .reject(.withoutRedirect(.reentryChanged))
    }
    guard !ReflectedCodeScanner(texts: request.queryAndBody).containsResponse(to: [GatewaySettings.callbackPath]) else {
      return .reject(.withoutRedirect(.codeReflectedFromRequest))
    }
    return .forward(PassThroughPermit())
  }
}
