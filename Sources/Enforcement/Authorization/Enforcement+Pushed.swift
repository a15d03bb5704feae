public import OAuth
public import Policy

/// Leave to keep an authorization request that a client pushed. Only this module gives it.
public struct PushedPermit: Sendable {
  public let client: Client
  /// The request as it is kept, and later taken: re-serialised from what was parsed, without the client's credentials.
  public let query: String
  /// What the request would be allowed now. It is decided anew when the browser comes.
  public let authorization: AuthorizationPermit
}

/// What an authorization request refers to: a pushed one, by its client.
public struct PushedReference: Sendable {
  /// Whose it has to be (RFC 9126, section 2.2).
  public let clientID: ClientID
  public let uri: String

  /// RFC 9126, section 2.2; the rest is the gateway's own.
  static let prefix = "urn:ietf:params:oauth:request_uri:"

  init(clientID: ClientID, uri: String) {
    self.clientID = clientID
    self.uri = uri
  }

  /// A new one.
  public init(clientID: ClientID, random: String) {
    self.init(clientID: clientID, uri: PushedReference.prefix + random)
  }
}

extension Enforcement {
  /// Decides an authorization request that a client pushes (RFC 9126, section 2.1): who it is, as at the token endpoint,
  /// then everything that is checked of a request in the browser, the browser aside.
  ///
  /// The request of an observed client is not decided here: it passes to the upstream's own endpoint.
  ///
  /// - Parameters:
  ///   - request: The request, parsed with `ParameterNames.atPushed`.
  ///   - policy: The policy of now.
  ///   - stateIsSealed: Whether its `state` opens as one of the gateway's.
  public static func decidePushed(
    _ request: TokenRequest, policy: Policy, stateIsSealed: Bool
  ) -> DecisionWithFindings<PushedPermit> {
    let context = TokenContext(request: request, policy: policy)
    var run = RuleRun(mode: .enforce)
    if case .refused(let rejection, let detail) = run.run(RuleTable.pushed, on: context) {
      return DecisionWithFindings(
        decision: .reject(RejectionResponse(rejection, detail: detail)), findings: run.findings)
    }
    guard let client = context.client else {
      return DecisionWithFindings(decision: .reject(RejectionResponse(.clientUnidentified)), findings: run.findings)
    }
    var entries = request.parameters.entries.filter { !ParameterNames.clientAuthentication.contains($0.parameter) }
    // With HTTP Basic the identifier may stand there alone.
    if request.parameters[.clientID] == nil {
      entries.removeAll { $0.parameter == .clientID }
      entries.append(FormParameters.Entry(.clientID, client.id.rawValue))
    }
    let query = FormEncoding.serialise(entries)
    let outcome = decideAuthorization(
      AuthorizationRequest(method: "GET", query: Substring(query)), policy: policy, stateIsSealed: stateIsSealed,
      isPushed: true)
    let findings = run.findings + outcome.findings
    switch outcome.decision {
    case .forward(let permit):
      let pushed = PushedPermit(client: client, query: query, authorization: permit)
      return DecisionWithFindings(decision: .forward(pushed), findings: findings)
    // Told to the client itself, never by way of a browser (RFC 9126, section 2.3).
    case .reject(let refusal):
      return DecisionWithFindings(
        decision: .reject(RejectionResponse(refusal.rejection, detail: refusal.detail)), findings: findings)
    case .pass:
      return DecisionWithFindings(decision: .reject(RejectionResponse(.pushedNotAllowed)), findings: findings)
    }
  }

  /// Decides what a request in the browser refers to; `nil` where it refers to no request that the gateway could have.
  ///
  /// Its refusals are pages: nothing else in the request counts, so there is no redirect URI to trust (RFC 9126, section 4).
  public static func pushedReference(
    in request: AuthorizationRequest, policy: Policy
  ) -> DecisionWithFindings<PushedReference>? {
    let isReference = request.all(.requestURI).contains { $0.hasPrefix(PushedReference.prefix) }
    guard policy.acceptsPushedRequests, isReference, !request.contains(.request) else { return nil }
    let context = AuthorizationContext(request: request, policy: policy, stateIsSealed: false)
    var run = RuleRun(mode: .enforce)
    if case .refused(let rejection, let detail) = run.run(RuleTable.reference, on: context) {
      return DecisionWithFindings(
        decision: .reject(RejectionResponse(rejection, detail: detail)), findings: run.findings)
    }
    // One reference to one request: a second value is none at all.
    guard let client = context.client, let uri = request.parameters[.requestURI] else {
      return DecisionWithFindings(decision: .reject(RejectionResponse(.pushedUnknown)), findings: run.findings)
    }
    return DecisionWithFindings(
      decision: .forward(PushedReference(clientID: client.id, uri: uri)), findings: run.findings)
  }
}
