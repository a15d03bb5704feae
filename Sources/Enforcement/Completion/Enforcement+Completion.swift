internal import Bytes
public import OAuth
public import Policy

/// The facts around an upstream answer.
public struct CompletionFacts: Sendable {
  /// True if the browser presented the secret of the transaction, or if the request is the one that began it.
  public var browserMatches: Bool
  /// The request that the upstream answers: a code that already occurs in it is not new.
  public var request: ReflectedCodeScanner
  /// The current time in seconds since 1970.
  public var now: Int64

  /// Creates the facts for one answer.
  public init(browserMatches: Bool, request: ReflectedCodeScanner, now: Int64) {
    self.browserMatches = browserMatches
    self.request = request
    self.now = now
  }
}

/// Permission to send a response to the client. Only `Enforcement` can create it. The caller claims the digest of the
/// upstream code for the transaction before it sends the response.
public final class CompletionPermit: Sendable {
  /// The client that receives the response.
  public let client: Client
  /// The transaction that the response completes.
  public let transaction: AuthorizationTransaction
  /// The upstream code, which is sealed before it is sent: browsers never see it.
  public let upstreamCode: Secret
  /// The content of the sealed code; it expires after the client's `codeLifetime`.
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

  /// The refusal for the client if the code cannot be claimed.
  public func refusal(_ rejection: Rejection) -> RejectionResponse {
    RejectionResponse(rejection, delivery: redirect.delivery)
  }

  /// The response, with the sealed code.
  public func response(code: String) -> AuthorizationResponse {
    redirect.response([FormParameters.Entry(.code, code)] + extra)
  }
}

extension Enforcement {
  /// Decides how an upstream answer completes a transaction (`I-completion`; RFC 6749, sections 4.1.2 and 4.1.2.1; RFC
  /// 9207).
  ///
  /// An upstream error is a refusal that reaches the client by redirect.
  ///
  /// - Parameters:
  ///   - answer: The answer, whose state opened to `transaction`, or which has no state and belongs to it by its place.
  ///   - transaction: The transaction that the upstream answers.
  ///   - facts: The facts that the caller has looked up.
  ///   - policy: The current policy.
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
      // An answer at a closed callback is reported to the app as `server_error`, without the text of the upstream.
      let delivery = rejection == .callbackClosed ? redirect.delivery : .here
      return DecisionWithFindings(decision: .reject(RejectionResponse(rejection, delivery: delivery)), findings: [])
    }
    return DecisionWithFindings(
      decision: content(of: answer, client: client, redirect: redirect, transaction: transaction, now: facts.now),
      findings: [])
  }

  /// Returns the refusal of an answer that arrived at the wrong place or is not new; `nil` otherwise.
  private static func misplaced(
    _ answer: UpstreamAuthorizationResponse, transaction: AuthorizationTransaction, facts: CompletionFacts,
    policy: Policy
  ) -> Rejection? {
    // An answer without a state must be an error in a `Location`, where the place identifies the transaction.
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
