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
  /// The scope that was sent upstream; `nil` if none was.
  let sentScope: Scope?

  /// The parameters that may come back only with these values: those that were sent upstream, and `response_mode`,
  /// which was not sent and therefore has its default `query`.
  var sent: [(parameter: ParameterName, value: String)] {
    var sent: [(ParameterName, String)] = [
      (.clientID, transaction.upstreamClientID.rawValue), (.redirectURI, transaction.upstreamRedirectURI),
      (.responseType, "code"), (.responseMode, ResponseMode.query.rawValue), (.state, sealedState),
    ]
    if let challenge = transaction.upstreamVerifier?.challenge {
      sent.append((.codeChallenge, challenge.text))
      sent.append((.codeChallengeMethod, challenge.method.rawValue))
    }
    return sent
  }

  /// The parameters that were not sent upstream and must not come back.
  var neverSent: ParameterNames {
    transaction.upstreamVerifier == nil ? [.requestObjects, .pkce] : .requestObjects
  }
}

/// Permission to forward a re-entry unchanged. Only `Enforcement` can create it.
public struct ReentryPermit: Sendable {
  /// The transaction to which the request belongs.
  public let transaction: AuthorizationTransaction
  let redirect: VerifiedRedirect?

  /// Returns the error response for the client if the upstream failed.
  public func refusal(_ rejection: Rejection) -> RejectionResponse {
    redirect.map { RejectionResponse(rejection, delivery: $0.delivery) } ?? RejectionResponse(rejection)
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
  public static func decideReentry(
    _ request: AuthorizationRequest, sealedState: String, transaction: AuthorizationTransaction,
    browserMatches: Bool, policy: Policy, now: UnixTime
  ) -> DecisionWithFindings<ReentryPermit> {
    guard request.problem != .method else {
      return DecisionWithFindings(decision: .reject(.withoutRedirect(.methodNotAllowed)), findings: [])
    }
    let transactionContext = TransactionContext(
      transaction: transaction, policy: policy, now: now, browserMatches: browserMatches)
    let reentryContext = ReentryContext(
      request: request, transaction: transaction, sealedState: sealedState, client: transactionContext.client,
      sentScope: UpstreamScope(
        transaction.scope, client: transactionContext.client, policy: policy, appliesDefault: true
      ).scope)
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
  /// If the browser has no transaction in progress, the form may belong to the sign-in of an observed client. Then it
  /// passes if the policy observes any requests. If the policy also enforces a client, a form that cannot be read does
  /// not pass, because it could contain the id of that client.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - hasLiveTransaction: True if the browser has a transaction that has not expired, according to its cookie.
  ///   - policy: The current policy.
  public static func decideForm(
    _ request: AuthorizationRequest, hasLiveTransaction: Bool, policy: Policy
  ) -> Decision<PassThroughPermit> {
    guard hasLiveTransaction else {
      let mayPass = policy.isObserving && !(policy.isEnforcing && (request.hasNonFormBody || request.problem != nil))
      return mayPass ? .pass(PassThroughPermit()) : .reject(.withoutRedirect(.formWithoutTransaction))
    }
    if let problem = request.problem {
      switch problem {
      case .method: return .reject(.withoutRedirect(.methodNotAllowed))
      case .bodyType, .tooManyParameters, .query: return .reject(.withoutRedirect(.reentryBody))
      case .split: return .reject(.withoutRedirect(.parametersSplit))
      }
    }
    guard !request.sources.contains(where: { AuthorizationRequest.hasOAuthParameters($0) || $0.hasLookAlike }) else {
      return .reject(.withoutRedirect(.reentryChanged))
    }
    guard !ReflectedCodeScanner(texts: request.texts).containsResponse(to: [GatewaySettings.ownCallback]) else {
      return .reject(.withoutRedirect(.codeReflectedFromRequest))
    }
    return .forward(PassThroughPermit())
  }
}
