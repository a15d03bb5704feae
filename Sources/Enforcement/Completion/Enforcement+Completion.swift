public import OAuth
public import Policy
public import Time

/// The facts for the rules on a running transaction, both for a re-entry and for an authorization response of the
/// upstream.
struct TransactionContext: Sendable {
  let transaction: AuthorizationTransaction
  let policy: Policy
  let now: UnixTime
  /// True if the request contains the browser secret whose hash is in the transaction, or if the request itself began
  /// the transaction.
  let browserMatches: Bool
  /// The client in the current policy, or the unlisted one, as it acts for the resource of the transaction; `nil` if the
  /// policy no longer permits the client.
  let client: Client?
  /// The resource of the transaction in the current policy; `nil` if it has none, or if the policy no longer lists it.
  let resource: Resource?
  /// The destination of the response; `nil` if the current policy does not permit it.
  let redirect: VerifiedRedirect?

  init(
    transaction: AuthorizationTransaction, policy: Policy, now: UnixTime, browserMatches: Bool, unlisted: Client? = nil
  ) {
    self.transaction = transaction
    self.policy = policy
    self.now = now
    self.browserMatches = browserMatches
    let resource = transaction.resource.flatMap { policy.resources[$0] }
    self.resource = resource
    let client = policy.client(transaction.clientID, unlisted: unlisted)?.acting(for: resource)
    self.client = client
    let isListed = resource != nil || transaction.resource == nil
    redirect = isListed ? client.flatMap { TransactionContext.redirect(to: $0, transaction, policy) } : nil
  }

  /// Returns the destination of the response. The redirect URI is compared with the registered ones again, because the
  /// policy may have changed since the state was sealed. If the policy no longer permits the response mode of the
  /// transaction, the response is sent in the query.
  private static func redirect(
    to client: Client, _ transaction: AuthorizationTransaction, _ policy: Policy
  ) -> VerifiedRedirect? {
    if transaction.isDeviceFlow {
      let isPermitted =
        client.grants.contains(.deviceCode) && client.upstream.clientID == transaction.upstreamClientID
      return isPermitted ? .ofDeviceFlow(to: transaction.redirectURI, policy) : nil
    }
    guard client.hasRegistered(transaction.redirectURI),
      client.upstream.clientID == transaction.upstreamClientID, client.grants.contains(.authorizationCode)
    else { return nil }
    if case .localhost = transaction.redirectURI.kind, client.localhost == .reject { return nil }
    let mode = transaction.responseMode
    let isAllowed = client.responseModes.contains(mode) && mode.canReach(transaction.redirectURI)
    return VerifiedRedirect(
      redirectURI: transaction.redirectURI, mode: isAllowed ? mode : .query, state: transaction.state,
      issuer: policy.gateway.issuer, rulesURL: policy.gateway.rulesURL, isUntrusted: client.registration != .trusted,
      appendsFragment: client.fragmentGuard)
  }
}

/// The facts on which the completion of an authorization response depends.
public struct CompletionFacts: Sendable {
  /// True if the request contains the secret of the browser that began the transaction, or if the request itself began
  /// the transaction.
  public var browserMatches: Bool
  /// The texts of the request to which the upstream responded. A code that is already in the request was not issued by
  /// this response.
  public var requestTexts: ReflectedCodeScanner
  /// The epoch of the store, read before the upstream code is claimed.
  public var epoch: EpochID
  /// The code of the network of the request; `nil` if the request came from this machine.
  public var network: UInt64?
  /// The current time.
  public var now: UnixTime

  /// Creates the facts.
  public init(
    browserMatches: Bool, requestTexts: ReflectedCodeScanner, epoch: EpochID, network: UInt64? = nil, now: UnixTime
  ) {
    self.browserMatches = browserMatches
    self.requestTexts = requestTexts
    self.epoch = epoch
    self.network = network
    self.now = now
  }
}

/// Permission to send an authorization response to the client. Only `Enforcement` can create it. Before the caller
/// sends the response, it must record in the store that the upstream code belongs to this transaction.
public final class CompletionPermit: Sendable {
  /// The client that receives the response.
  public let client: Client
  /// The transaction that the response completes.
  public let transaction: AuthorizationTransaction
  /// The content of the code that is sent to the client, before sealing. It expires after the client's `codeLifetime`.
  /// The client gets the upstream code only in sealed form, so that browsers never see it.
  public let code: IssuedCode
  let redirect: VerifiedRedirect
  /// The parameters of the upstream's response that the client gets with the code: `session_state`, `scope`, and those
  /// that the policy lists.
  let extraParameters: [FormParameters.Entry]

  init(
    client: Client, transaction: AuthorizationTransaction, code: IssuedCode, redirect: VerifiedRedirect,
    extraParameters: [FormParameters.Entry]
  ) {
    self.client = client
    self.transaction = transaction
    self.code = code
    self.redirect = redirect
    self.extraParameters = extraParameters
  }

  /// Returns the scope that the upstream got: without the scope tokens that the policy drops, with the default scope and
  /// the tokens of the resource.
  public func upstreamScope(_ policy: Policy) -> Scope? {
    UpstreamScope(transaction.scope, client: client, policy: policy, appliesDefault: true)
      .scopeOfSignIn(for: transaction.resource.flatMap { policy.resources[$0] })
  }

  /// Returns the error response for the client, for a caller that cannot record that the code belongs to the
  /// transaction.
  public func errorResponse(for rejection: Rejection) -> RejectionResponse {
    RejectionResponse(rejection, delivery: redirect.errorDelivery)
  }

  /// Returns the response with the sealed code.
  public func response(code: String) -> AuthorizationResponse {
    redirect.makeResponse([FormParameters.Entry(.code, code)] + extraParameters)
  }
}

extension Enforcement {
  /// Decides how an authorization response of the upstream completes a transaction (invariant `I-completion`; RFC 6749,
  /// sections 4.1.2 and 4.1.2.1; RFC 9207).
  ///
  /// If the response is an error, the decision is a refusal that is delivered to the client.
  ///
  /// - Parameters:
  ///   - answer: The response of the upstream. Either its `state` is the sealed state of `transaction`, or it has no
  ///     `state` and the upstream sent it in response to a request of `transaction`.
  ///   - transaction: The transaction of the response.
  ///   - facts: The facts that the caller has found.
  ///   - policy: The current policy.
  ///   - unlisted: The client of the transaction if the policy does not list it; `nil` if there is none.
  public static func decideCompletion(
    _ answer: UpstreamAuthorizationResponse, transaction: AuthorizationTransaction, facts: CompletionFacts,
    policy: Policy, unlisted: Client? = nil
  ) -> DecisionWithFindings<CompletionPermit> {
    let transactionContext = TransactionContext(
      transaction: transaction, policy: policy, now: facts.now, browserMatches: facts.browserMatches,
      unlisted: unlisted)
    var run = RuleRun(mode: .enforce)
    if case .refused(let rejection, let detail) = run.run(RuleTable.transaction, on: transactionContext) {
      return DecisionWithFindings(decision: .reject(RejectionResponse(rejection, detail: detail)), findings: [])
    }
    guard let client = transactionContext.client, let redirect = transactionContext.redirect else {
      return DecisionWithFindings(decision: .reject(.withoutRedirect(.transactionNoLongerValid)), findings: [])
    }
    if let rejection = rejection(of: answer, transaction: transaction, facts: facts, policy: policy) {
      // Only for `callbackClosed` does the client get the error: `server_error`, without the text of the upstream. The
      // other refusals are pages without a link to the client.
      let delivery = rejection == .callbackClosed ? redirect.errorDelivery : .withoutRedirect
      return DecisionWithFindings(decision: .reject(RejectionResponse(rejection, delivery: delivery)), findings: [])
    }
    let listed = answer.listedParameters(for: transaction, policy)
    return DecisionWithFindings(
      decision: decision(
        on: answer, listed.entries, client: client, redirect: redirect, transaction: transaction, facts: facts),
      findings: listed.isComplete ? [] : [.note(.responseParameterDropped)])
  }

  /// Returns the refusal of a response that arrived at the wrong place, that lacks a required `state`, or whose code
  /// was already in the request; `nil` otherwise.
  private static func rejection(
    of answer: UpstreamAuthorizationResponse, transaction: AuthorizationTransaction, facts: CompletionFacts,
    policy: Policy
  ) -> Rejection? {
    // Without a state, only the request to which the upstream responded identifies the transaction. So a response
    // without a state is accepted only in a `Location`, and only if it is an error.
    let hasCode = answer.parameters.contains(.code)
    switch answer.source {
    case .callback:
      guard policy.upstream.callback == .atCallback else { return .callbackClosed }
      return answer.state == nil ? .upstreamResponseUnusable : nil
    case .location where hasCode && answer.state == nil:
      return .upstreamResponseUnusable
    case .location:
      guard answer.isSent(to: transaction.upstreamRedirectURI) else { return .responseToOtherURI }
      let isReflected = answer.parameters.all(.code).contains { facts.requestTexts.contains(code: $0) }
      return isReflected ? .codeReflectedFromRequest : nil
    }
  }

  /// Returns the decision on a response that `rejection(of:transaction:facts:policy:)` does not refuse: a permit for a
  /// code, or a refusal for an error or a response without a clear result.
  ///
  /// - Parameter listed: The parameters of the response that the policy lists for the client.
  private static func decision(
    on answer: UpstreamAuthorizationResponse, _ listed: [FormParameters.Entry], client: Client,
    redirect: VerifiedRedirect, transaction: AuthorizationTransaction, facts: CompletionFacts
  ) -> Decision<CompletionPermit> {
    guard !answer.hasSecondSpelling else {
      return .reject(RejectionResponse(.upstreamResponseUnusable, delivery: redirect.errorDelivery))
    }
    switch (answer.parameters.lookUp(.code), answer.parameters.lookUp(.error)) {
    case (.value(let code), .absent):
      let extraParameters = [ParameterName.sessionState, .scope].compactMap { name in
        answer.parameters[name].map { FormParameters.Entry(name, $0) }
      }
      return .forward(
        CompletionPermit(
          client: client, transaction: transaction,
          code: transaction.issuedCode(
            for: Secret(code), expiry: facts.now + client.codeLifetime, epoch: facts.epoch, network: facts.network),
          redirect: redirect, extraParameters: extraParameters + listed))
    case (.absent, .value(let error)):
      let mapped = OAuthErrorCode(upstreamAuthorizationError: error)
      let words = answer.parameters[.errorDescription] ?? answer.parameters[.errorMessage]
      let upstream = UpstreamError(
        code: mapped, description: words.map { ErrorDescription.sanitised($0) }, extraParameters: listed)
      return .reject(
        RejectionResponse(
          mapped == .accessDenied ? .upstreamDenied : .upstreamError, delivery: redirect.errorDelivery,
          upstreamError: upstream))
    default:
      return .reject(RejectionResponse(.upstreamResponseUnusable, delivery: redirect.errorDelivery))
    }
  }
}

extension AuthorizationTransaction {
  /// Returns the content of the code that the gateway issues for the upstream code.
  func issuedCode(for upstreamCode: Secret, expiry: UnixTime, epoch: EpochID, network: UInt64?) -> IssuedCode {
    // The token request has the id of the client, and with it all of its metadata.
    var code = IssuedCode(
      transactionID: id, binding: binding, upstreamCode: upstreamCode, expiry: expiry, epoch: epoch,
      origin: SignInOrigin(browserSecretHash: browserSecretHash, network: network))
    if code.binding.client.registration != nil { code.binding.client.registration = nil }
    return code
  }
}
