/// What the decision log says about one judged request.
///
/// There is no field for a secret, and none for text of a request but the client id: codes, tokens, verifiers, states and
/// URIs have no place here (RFC 6819, section 4.4.1.1).
public struct DecisionRecord: Equatable, Sendable {
  /// Milliseconds since 1970.
  public var time: Int64
  /// Joins the legs of one flow; `nil` before a flow has begun.
  public var transaction: String?
  public var endpoint: DecisionEndpoint
  /// As the request says it, cut to 256 bytes; it need not be configured.
  public var client: String?
  public var decision: DecisionKind
  /// The stable id of the rule that decided.
  public var rule: String?
  /// As sent to the client.
  public var status: Int
  /// `enforce` or `report`.
  public var mode: String
  /// Ids of what was noticed without being decisive.
  public var findings: [String]
  /// The kind of redirect URI, e.g. `loopback`; never the URI.
  public var redirectKind: String?
  /// `nil` when the upstream was not asked or did not answer.
  public var upstreamStatus: Int?
  public var durationNanoseconds: UInt64
  public var peer: String
  public var policyVersion: String

  public init(
    time: Int64, transaction: String? = nil, endpoint: DecisionEndpoint, client: String? = nil, decision: DecisionKind,
    rule: String? = nil, status: Int, mode: String, findings: [String] = [], redirectKind: String? = nil,
    upstreamStatus: Int? = nil, durationNanoseconds: UInt64, peer: String, policyVersion: String
  ) {
    self.time = time
    self.transaction = transaction
    self.endpoint = endpoint
    self.client = client
    self.decision = decision
    self.rule = rule
    self.status = status
    self.mode = mode
    self.findings = findings
    self.redirectKind = redirectKind
    self.upstreamStatus = upstreamStatus
    self.durationNanoseconds = durationNanoseconds
    self.peer = peer
    self.policyVersion = policyVersion
  }
}
