/// How a request was handled.
public enum Handling: String, Sendable, CaseIterable {
  /// Forwarded without a look at its meaning.
  case pass
  /// Judged, and sent upstream in the gateway's own form.
  case forward
  /// Answered by the gateway itself.
  case answer
  /// Malformed, too slow or too large to be handled at all.
  case refuse
}

/// An endpoint whose requests are judged.
public enum DecisionEndpoint: String, Sendable, CaseIterable {
  case authorization
  case callback
  case token
  case revocation
  case introspection
  case device
  case registration
  case metadata
  case consent
  /// A response that carries an authorization response at a path that is no endpoint.
  case response
  case pushedAuthorization = "pushed_authorization"
  /// Any other path: ambiguous ones, closed ones.
  case path
}

/// What was decided.
public enum DecisionKind: String, Sendable, CaseIterable {
  case forward
  case reject
  /// Passed, and would have been rejected in enforce mode.
  case wouldReject = "would_reject"
  /// Passed, and the rules of the redemption could not be evaluated: the authorization request is not known.
  case notObservable = "not_observable"
}

/// Why the upstream gave no answer.
public enum UpstreamErrorKind: String, Sendable, CaseIterable {
  /// No address accepted the connection.
  case refused
  case timeout
  case reset
  /// The answer was not HTTP as it should be.
  case `protocol`
  /// The name does not resolve.
  case dns
  /// All connections were in use.
  case busy
  /// The TLS handshake failed, or the server's certificate is not trusted.
  case tls
}

/// The labels of one series of decisions.
public struct DecisionLabels: Hashable, Sendable, Comparable {
  public let endpoint: DecisionEndpoint
  /// A configured client id, `other` beyond the bound, `unknown` for an id that is not configured.
  public let client: String
  /// A stable rule id; empty when no rule had anything to say.
  public let rule: String
  public let decision: DecisionKind

  public static func < (left: DecisionLabels, right: DecisionLabels) -> Bool {
    (left.endpoint.rawValue, left.client, left.rule, left.decision.rawValue)
      < (right.endpoint.rawValue, right.client, right.rule, right.decision.rawValue)
  }
}
