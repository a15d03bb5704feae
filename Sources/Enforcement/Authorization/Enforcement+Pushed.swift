public import OAuth
public import Policy

/// Permission to store an authorization request that a client pushed (RFC 9126). Only `Enforcement` can create it.
public struct PushedPermit: Sendable {
  /// The client that pushed the request.
  public let client: Client
  /// The request as a query, built from the parsed values without the credentials of the client. The store keeps the
  /// query until a browser presents the reference, or until the reference expires.
  public let query: String
  /// The permit for the request under the current policy, with which the caller answers the push. When a browser
  /// presents the reference, the request is decided again, and this decision creates another permit.
  public let authorization: AuthorizationPermit
}

/// A reference to a pushed request, which replaces the parameters of an authorization request.
public struct PushedReference: Sendable {
  /// The client of the authorization request, which must be the client that pushed the request (RFC 9126, section 2.2).
  public let clientID: ClientID
  /// The value of `request_uri`.
  public let uri: String

  /// The prefix of every reference (RFC 9126, section 2.2). The rest is random text.
  static let prefix = "urn:ietf:params:oauth:request_uri:"

  init(clientID: ClientID, uri: String) {
    self.clientID = clientID
    self.uri = uri
  }

  /// Creates the reference of a newly pushed request.
  ///
  /// - Parameters:
  ///   - clientID: The client that pushed the request.
  ///   - random: New random text, so that the reference cannot be guessed.
  public init(clientID: ClientID, random: String) {
    self.init(clientID: clientID, uri: PushedReference.prefix + random)
  }
}

extension Enforcement {
  /// Decides an authorization request that a client pushes (RFC 9126, section 2.1). The client is authenticated as at
  /// the token endpoint. Then the rules of the authorization endpoint apply, except the rule on the user agent.
  ///
  /// The caller does not call this function for an observed client, whose request passes to the upstream's endpoint for
  /// pushed requests.
  ///
  /// - Parameters:
  ///   - request: The request, parsed with `ParameterNames.atPushed`.
  ///   - policy: The current policy.
  ///   - stateIsSealed: True if the gateway can decrypt `state` as a state that it sealed.
  ///   - unlisted: The client of the request if the policy does not list it. It may not push, so the request is
  ///     refused.
  public static func decidePushed(
    _ request: TokenRequest, policy: Policy, stateIsSealed: Bool, unlisted: Client? = nil
  ) -> DecisionWithFindings<PushedPermit> {
    let context = TokenContext(request: request, policy: policy, unlisted: unlisted)
    var run = RuleRun(mode: .enforce)
    if case .refused(let rejection, let detail) = run.run(RuleTable.pushed, on: context) {
      return DecisionWithFindings(
        decision: .reject(RejectionResponse(rejection, detail: detail)), findings: run.findings)
    }
    guard let client = context.client else {
      return DecisionWithFindings(decision: .reject(RejectionResponse(.clientUnidentified)), findings: run.findings)
    }
    let query = pushedQuery(request, of: client)
    let outcome = decideAuthorization(
      AuthorizationRequest(method: "GET", query: Substring(query)), policy: policy, stateIsSealed: stateIsSealed,
      isPushed: true, unlisted: unlisted)
    let findings = run.findings + outcome.findings
    switch outcome.decision {
    case .forward(let permit):
      let pushed = PushedPermit(client: client, query: query, authorization: permit)
      return DecisionWithFindings(decision: .forward(pushed), findings: findings)
    // The error is in the response to the client, and never in a redirect of a browser (RFC 9126, section 2.3).
    case .reject(let refusal):
      return DecisionWithFindings(
        decision: .reject(RejectionResponse(refusal.rejection, detail: refusal.detail)), findings: findings)
    // Does not occur: only an observed request passes, and a pushed request is always enforced.
    case .pass:
      return DecisionWithFindings(decision: .reject(RejectionResponse(.pushedNotAllowed)), findings: findings)
    }
  }

  /// Returns the pushed authorization request as a query, without the credentials of the client.
  static func pushedQuery(_ request: TokenRequest, of client: Client) -> String {
    var entries = request.parameters.entries.filter { !ParameterNames.clientAuthentication.contains($0.parameter) }
    // A client that uses HTTP Basic may omit `client_id` from the body, or send it with an empty value.
    if request.parameters[.clientID] == nil {
      entries.removeAll { $0.parameter == .clientID }
      entries.append(FormParameters.Entry(.clientID, client.id.rawValue))
    }
    return FormEncoding.serialise(entries)
  }

  /// Decides an authorization request that refers to a pushed request. Such a request has a `request_uri` that begins
  /// with the prefix of the gateway's references. Returns `nil` for any other request, for a request that also has the
  /// parameter `request`, and if the policy permits no client to push.
  ///
  /// All refusals are pages: the parameters other than `client_id` and `request_uri` are ignored (RFC 9126, section 4),
  /// so the gateway knows no redirect URI.
  public static func decidePushedReference(
    in request: AuthorizationRequest, policy: Policy, unlisted: Client? = nil
  ) -> DecisionWithFindings<PushedReference>? {
    let isReference = request.all(.requestURI).contains { $0.utf8.starts(with: PushedReference.prefix.utf8) }
    guard policy.acceptsPushedRequests, isReference, !request.contains(.request) else { return nil }
    let context = AuthorizationContext(request: request, policy: policy, stateIsSealed: false, unlisted: unlisted)
    var run = RuleRun(mode: .enforce)
    if case .refused(let rejection, let detail) = run.run(RuleTable.reference, on: context) {
      return DecisionWithFindings(
        decision: .reject(RejectionResponse(rejection, detail: detail)), findings: run.findings)
    }
    // A request with several references is ambiguous, so it is refused.
    guard let client = context.client, let uri = request.parameters[.requestURI] else {
      return DecisionWithFindings(decision: .reject(RejectionResponse(.pushedRequestUnknown)), findings: run.findings)
    }
    return DecisionWithFindings(
      decision: .forward(PushedReference(clientID: client.id, uri: uri)), findings: run.findings)
  }
}
