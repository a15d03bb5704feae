internal import ByteText
public import OAuth
public import Policy
public import Time

/// The facts about an authorization response of the upstream.
public struct CompletionFacts: Sendable {
  /// True if the request contains the secret of the browser that began the transaction, or if it is the request that
  /// began it.
  public var browserMatches: Bool
  /// The request to which the upstream responded. A code that already occurs in it was not issued now.
  public var request: ReflectedCodeScanner
  /// The current time.
  public var now: UnixTime

  /// Creates the facts.
  public init(browserMatches: Bool, request: ReflectedCodeScanner, now: UnixTime) {
    self.browserMatches = browserMatches
    self.request = request
    self.now = now
  }
}

/// Permission to send an authorization response to the client. Only `Enforcement` can create it. Before the caller
/// sends the response, it records in the store that the upstream code belongs to this transaction.
public final class CompletionPermit: Sendable {
  /// The client that receives the response.
  public let client: Client
  /// The transaction that the response completes.
  public let transaction: AuthorizationTransaction
  /// The upstream code. The client gets it sealed only, so that browsers never see it.
  public let upstreamCode: Secret
  /// The content of the code that is sent to the client, before sealing. It expires after the client's `codeLifetime`.
  public let code: IssuedCode
  let redirect: VerifiedRedirect
  let extra: [FormParameters.Entry]

  init(
    client: Client, transaction: AuthorizationTransaction, upstreamCode: Secret, code: IssuedCode,
    redirect: VerifiedRedirect, extra: [FormParameters.Entry]
  ) {
    self.client = client
    self.transaction = transaction
    self.upstreamCode = upstreamCode
    self.code = code
    self.redirect = redirect
    self.extra = extra
  }

  /// Returns the error response for the client if the caller cannot record that the code belongs to the transaction.
  public func refusal(_ rejection: Rejection) -> RejectionResponse {
    RejectionResponse(rejection, delivery: redirect.delivery)
  }

  /// Returns the response with the sealed code.
  public func response(code: String) -> AuthorizationResponse {
    redirect.response([FormParameters.Entry(.code, code)] + extra)
  }
}

extension Enforcement {
  /// Decides how an authorization response of the upstream completes a transaction (`I-completion`; RFC 6749, sections
  /// 4.1.2 and 4.1.2.1; RFC 9207).
  ///
  /// An error of the upstream becomes a refusal that is delivered to the client.
  ///
  /// - Parameters:
  ///   - answer: The response of the upstream. Its `state` is the sealed state of `transaction`; or it has none, and is
  ///     the response to a request of `transaction`.
  ///   - transaction: The transaction of the response.
  ///   - facts: The facts that the caller has looked up.
  ///   - policy: The current policy.
  public static func decideCompletion(
    _ answer: UpstreamAuthorizationResponse, transaction: AuthorizationTransaction, facts: CompletionFacts,
    policy: Policy
  ) -> DecisionWithFindings<CompletionPermit> {
    let transactionContext = TransactionContext(
      transaction: transaction, policy: policy, now: facts.now, browserMatches: facts.browserMatches)
    var run = RuleRun(mode: .enforce)
    if case .refused(let rejection, let detail) = run.run(RuleTable.transaction, on: transactionContext) {
      return DecisionWithFindings(decision: .reject(RejectionResponse(rejection, detail: detail)), findings: [])
    }
    guard let client = transactionContext.client, let redirect = transactionContext.redirect else {
      return DecisionWithFindings(decision: .reject(.here(.transactionOutdated)), findings: [])
    }
    if let rejection = rejection(of: answer, transaction: transaction, facts: facts, policy: policy) {
      // The client gets `server_error`, without the text of the upstream.
      let delivery = rejection == .callbackClosed ? redirect.delivery : .here
      return DecisionWithFindings(decision: .reject(RejectionResponse(rejection, delivery: delivery)), findings: [])
    }
    return DecisionWithFindings(
      decision: decision(on: answer, client: client, redirect: redirect, transaction: transaction, now: facts.now),
      findings: [])
  }

  /// Returns the refusal of a response that arrived in the wrong way or whose code is not new; `nil` otherwise.
  private static func rejection(
    of answer: UpstreamAuthorizationResponse, transaction: AuthorizationTransaction, facts: CompletionFacts,
    policy: Policy
  ) -> Rejection? {
    // A response without a state must be an error in a `Location`: the request to which it belongs then identifies the
    // transaction.
    let hasCode = answer.parameters.contains(.code)
    switch answer.place {
    case .callback:
      guard policy.upstream.callback == .network else { return .callbackClosed }
      return answer.state == nil ? .answerUnusable : nil
    case .location where hasCode && answer.state == nil:
      return .answerUnusable
    case .location:
      let sent = transaction.upstreamRedirectURI
      guard let address = answer.address, address.utf8.span.isEqual(to: sent.utf8.span) else {
        return .responseToOtherURI
      }
      let isReflected = answer.parameters.all(.code).contains { facts.request.contains(code: $0) }
      return isReflected ? .codeReflectedFromRequest : nil
    }
  }

  private static func decision(
    on answer: UpstreamAuthorizationResponse, client: Client, redirect: VerifiedRedirect,
    transaction: AuthorizationTransaction,
    now: UnixTime
  ) -> Decision<CompletionPermit> {
    switch (answer.parameters.reading(.code), answer.parameters.reading(.error)) {
    case (.value(let code), .absent):
      let extra = [ParameterName.sessionState, .scope].compactMap { name in
        answer.parameters[name].map { FormParameters.Entry(name, $0) }
      }
      return .forward(
        CompletionPermit(
          client: client, transaction: transaction, upstreamCode: Secret(code),
          code: transaction.issuing(Secret(code), expiry: now + client.codeLifetime), redirect: redirect,
          extra: extra))
    case (.absent, .value(let error)):
      let mapped = OAuthErrorCode(upstreamAuthorizationError: error)
      let words = answer.parameters[.errorDescription] ?? answer.parameters[.errorMessage]
      let upstream = UpstreamError(code: mapped, description: words.map { ErrorDescription.sanitised($0) })
      return .reject(
        RejectionResponse(
          mapped == .accessDenied ? .upstreamDenied : .upstreamError, delivery: redirect.delivery,
          upstreamError: upstream))
    default:
      return .reject(RejectionResponse(.answerUnusable, delivery: redirect.delivery))
    }
  }
}

extension AuthorizationTransaction {
  func issuing(_ upstreamCode: Secret, expiry: UnixTime) -> IssuedCode {
    IssuedCode(transactionID: id, binding: binding, upstreamCode: upstreamCode, expiry: expiry)
  }
}
