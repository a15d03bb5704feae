public import OAuth
public import Policy

/// The facts for the rules on a login or consent page that returns to the authorization endpoint.
struct ReentryContext: Sendable {
  let request: AuthorizationRequest
  let transaction: AuthorizationTransaction
  /// The sealed state, as it was sent upstream.
  let sealedState: String
  let client: Client?
  /// The scope that was sent upstream.
  let sentScope: Scope?

  /// The parameters that were sent upstream and may only come back with the same values.
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

  /// The parameters that were not sent upstream and may not come back.
  var neverSent: ParameterNames {
    transaction.upstreamVerifier == nil ? [.requestObjects, .pkce] : .requestObjects
  }
}

/// Permission to forward a request of a running transaction unchanged. Only `Enforcement` can create it.
public struct ReentryPermit: Sendable {
  /// The transaction to which the request belongs.
  public let transaction: AuthorizationTransaction
  let redirect: VerifiedRedirect?

  /// The refusal for the client when the upstream failed; a page if its redirect URI is no longer registered.
  public func refusal(_ rejection: Rejection) -> RejectionResponse {
    redirect.map { RejectionResponse(rejection, delivery: $0.delivery) } ?? RejectionResponse(rejection)
  }
}

extension Enforcement {
  /// Decides a request at the authorization endpoint whose `state` opens as one that the gateway sealed (`I-reentry`).
  ///
  /// - Parameters:
  ///   - request: The request; its `states` contain `sealedState`.
  ///   - sealedState: The state that was opened, as it was sent upstream.
  ///   - transaction: The content of that state.
  ///   - browserMatches: True if the browser presented the secret of the transaction.
  ///   - policy: The current policy.
  ///   - now: The current time in seconds since 1970.
  public static func decideReentry(
    _ request: AuthorizationRequest, sealedState: String, transaction: AuthorizationTransaction,
    browserMatches: Bool, policy: Policy, now: Int64
  ) -> DecisionWithFindings<ReentryPermit> {
    guard request.problem != .method else {
      return DecisionWithFindings(decision: .reject(.here(.methodNotAllowed)), findings: [])
    }
    let running = TransactionContext(
      transaction: transaction, policy: policy, now: now, browserMatches: browserMatches)
    let context = ReentryContext(
      request: request, transaction: transaction, sealedState: sealedState, client: running.client,
      sentScope: UpstreamScope(
        transaction.scope, client: running.client, policy: policy, takesDefault: true
      ).scope)
    // Enforced in every mode, because the gateway itself began this transaction.
    var run = RuleRun(mode: .enforce)
    for end in [run.run(RuleTable.transaction, on: running), run.run(RuleTable.reentry, on: context)] {
      if case .refused(let rejection, let detail) = end {
        return DecisionWithFindings(
          decision: .reject(RejectionResponse(rejection, detail: detail)), findings: run.findings)
      }
    }
    return DecisionWithFindings(
      decision: .forward(ReentryPermit(transaction: transaction, redirect: running.redirect)), findings: run.findings)
  }

  /// Decides a POST to the authorization endpoint that has no OAuth parameter: a login or consent form (`I-reentry`).
  ///
  /// Without a live transaction, it may be the form of an observed app: it passes while any client may be observed. A
  /// body that cannot be read could name an enforced client, so it passes only while no client is enforced.
  ///
  /// - Parameter hasLiveTransaction: True if the cookie of the browser belongs to a transaction that has not ended.
  public static func decideForm(
    _ request: AuthorizationRequest, hasLiveTransaction: Bool, policy: Policy
  ) -> Decision<PassThroughPermit> {
    guard hasLiveTransaction else {
      let mayPass = policy.isObserving && !(policy.isEnforcing && (request.hasUnreadBody || request.problem != nil))
      return mayPass ? .pass(PassThroughPermit()) : .reject(.here(.formWithoutTransaction))
    }
    if let problem = request.problem {
      switch problem {
      case .method: return .reject(.here(.methodNotAllowed))
      case .bodyType, .tooManyParameters, .query: return .reject(.here(.reentryBody))
      case .split: return .reject(.here(.parametersSplit))
      }
    }
    guard !request.sources.contains(where: { AuthorizationRequest.hasOAuthParameters($0) || $0.hasLookAlike }) else {
      return .reject(.here(.reentryChanged))
    }
    guard !ReflectedCodeScanner(texts: request.texts).containsResponse(to: [GatewaySettings.ownCallback]) else {
      return .reject(.here(.codeReflectedFromRequest))
    }
    return .forward(PassThroughPermit())
  }
}
