internal import Bytes
public import OAuth
public import Policy

/// What is known around an upstream's answer.
public struct CompletionFacts: Sendable {
  /// True if the browser's secret is the transaction's, or the request is the very one that began it.
  public var browserMatches: Bool
  /// The request that is being answered: a code that is already there is not new.
  public var request: ReflectedCodeScanner
  /// Seconds since 1970.
  public var now: Int64

  public init(browserMatches: Bool, request: ReflectedCodeScanner, now: Int64) {
    self.browserMatches = browserMatches
    self.request = request
    self.now = now
  }
}

/// Permission to send the client its answer. Only this module can create it. The caller claims the digest of the upstream's
/// code for the transaction before it sends the answer.
public final class CompletionPermit: Sendable {
  public let client: Client
  public let transaction: AuthorizationTransaction
  /// The upstream's code, to be wrapped: browsers never see it.
  public let upstreamCode: Secret
  /// What the code is worth once it is wrapped; it expires the client's `codeLifetime` after now.
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

  /// What the client is told if the code cannot be claimed.
  public func refusal(_ rejection: Rejection) -> RejectionResponse {
    RejectionResponse(rejection, delivery: redirect.delivery)
  }

  /// The response, with the wrapped code.
  public func response(code: String) -> AuthorizationResponse {
    redirect.response([FormParameters.Entry(.code, code)] + extra)
  }
}

extension Enforcement {
  /// Decides what an upstream's answer becomes (`I-completion`; RFC 6749, sections 4.1.2 and 4.1.2.1; RFC 9207).
  ///
  /// An error of the upstream is a refusal that goes to the client by redirect.
  ///
  /// - Parameters:
  ///   - answer: The answer, whose state opened to `transaction`, or which has none and belongs to it by its place.
  ///   - transaction: The transaction that is answered.
  ///   - facts: What the caller knows around it.
  ///   - policy: The policy of now.
  public static func decideCompletion(
    _ answer: UpstreamAuthorizationResponse, transaction: AuthorizationTransaction, facts: CompletionFacts,
    policy: Policy
  ) -> DecisionWithFindings<CompletionPermit> {
    let running = TransactionContext(
      transaction: transaction, policy: policy, now: facts.now, browserMatches: facts.browserMatches)
    var run = RuleRun(mode: .enforce)
    if case .refused(let rejection, let detail) = run.run(RuleTable.transaction, on: running) {
      return DecisionWithFindings(decision: .reject(RejectionResponse(rejection, detail: detail)), findings: [])
    }
    guard let client = running.client, let redirect = running.redirect else {
      return DecisionWithFindings(decision: .reject(.here(.transactionOutdated)), findings: [])
    }
    if let rejection = misplaced(answer, transaction: transaction, facts: facts, policy: policy) {
      // What came where nothing should come is told to the app as the server's error, without what it said.
      let delivery = rejection == .callbackClosed ? redirect.delivery : .here
      return DecisionWithFindings(decision: .reject(RejectionResponse(rejection, delivery: delivery)), findings: [])
    }
    return DecisionWithFindings(
      decision: content(of: answer, client: client, redirect: redirect, transaction: transaction, now: facts.now),
      findings: [])
  }

  /// Returns the refusal of an answer that came where it may not come, or that is not new.
  private static func misplaced(
    _ answer: UpstreamAuthorizationResponse, transaction: AuthorizationTransaction, facts: CompletionFacts,
    policy: Policy
  ) -> Rejection? {
    // Only an error may come without a state, and only in place, where it is known whose answer it is.
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
      return answer.parameters.all(.code).contains(where: facts.request.holds) ? .codeReflectedFromRequest : nil
    }
  }

  private static func content(
    of answer: UpstreamAuthorizationResponse, client: Client, redirect: VerifiedRedirect,
    transaction: AuthorizationTransaction,
    now: Int64
  ) -> Decision<CompletionPermit> {
    switch (answer.parameters.reading(.code), answer.parameters.reading(.error)) {
    case (.value(let code), .absent):
      let extra = [ParameterName.sessionState, .scope].compactMap { name in
        answer.parameters[name].map { FormParameters.Entry(name, $0) }
      }
      return .forward(
        CompletionPermit(
          client: client, transaction: transaction, upstreamCode: Secret(code),
          code: transaction.issuing(Secret(code), expiry: now + Int64(client.codeLifetime)), redirect: redirect,
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
  func issuing(_ upstreamCode: Secret, expiry: Int64) -> IssuedCode {
    IssuedCode(
      transactionID: id, clientID: clientID, redirectURI: redirectURI, redirectURIWasSent: redirectURIWasSent,
      challenge: challenge, scope: scope, upstreamCode: upstreamCode, upstreamClientID: upstreamClientID,
      upstreamRedirectURI: upstreamRedirectURI, upstreamVerifier: upstreamVerifier, expiry: expiry)
  }
}
