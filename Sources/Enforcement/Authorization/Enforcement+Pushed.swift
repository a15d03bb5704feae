public import OAuth
public import Policy

/// Permission to store an authorization request that a client pushed. Only `Enforcement` can create it.
public struct PushedPermit: Sendable {
  /// The client that pushed the request.
  public let client: Client
  /// The query that is stored, and decided when the browser comes: re-serialised from the parsed values, without the
  /// credentials of the client.
  public let query: String
  /// The permit that the request would get now. It is decided again when the browser presents the reference.
  public let authorization: AuthorizationPermit
}

/// A reference to a pushed request, as an authorization request contains it.
public struct PushedReference: Sendable {
  /// The client that must have pushed the request (RFC 9126, section 2.2).
  public let clientID: ClientID
  /// The value of `request_uri`.
  public let uri: String

  /// The prefix of each reference (RFC 9126, section 2.2). The gateway chooses the rest.
  static let prefix = "urn:ietf:params:oauth:request_uri:"

  init(clientID: ClientID, uri: String) {
    self.clientID = clientID
    self.uri = uri
  }

  /// Creates the reference of a newly pushed request.
  ///
  /// - Parameters:
  ///   - clientID: The client that pushed it.
  ///   - random: Fresh random text, which makes the reference impossible to guess.
  public init(clientID: ClientID, random: String) {
    self.init(clientID: clientID, uri: PushedReference.prefix + random)
  }
}

extension Enforcement {
  /// Decides an authorization request that a client pushes (RFC 9126, section 2.1): first the client is authenticated
  /// as at the token endpoint, then the rules for a request from a browser apply, except those on the browser itself.
  ///
  /// A request of an observed client is not decided here: it passes to the pushed request endpoint of the
  /// upstream.
  ///
  /// - Parameters:
  ///   - request: The request, parsed with `ParameterNames.atPushed`.
  ///   - policy: The current policy.
  ///   - stateIsSealed: True if the `state` opens as one that the gateway sealed.
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
    // With HTTP Basic, only the header may contain the identifier.
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
    // The refusal goes to the client directly, never through a browser (RFC 9126, section 2.3).
    case .reject(let refusal):
      return DecisionWithFindings(
        decision: .reject(RejectionResponse(refusal.rejection, detail: refusal.detail)), findings: findings)
    case .pass:
      return DecisionWithFindings(decision: .reject(RejectionResponse(.pushedNotAllowed)), findings: findings)
    }
  }

  /// Decides a browser request that refers to a pushed one; `nil` if it contains no reference that the gateway could
  /// have issued.
  ///
  /// Refusals are pages: no other parameter of the request counts, so there is no redirect URI to trust (RFC 9126,
  /// section 4).
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
    // The values of several references are ambiguous: such a request refers to nothing.
    guard let client = context.client, let uri = request.parameters[.requestURI] else {
      return DecisionWithFindings(decision: .reject(RejectionResponse(.pushedUnknown)), findings: run.findings)
    }
    return DecisionWithFindings(
      decision: .forward(PushedReference(clientID: client.id, uri: uri)), findings: run.findings)
  }
}
