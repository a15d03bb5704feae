/// What the decision log says about one judged request.
///
/// There is no field for a secret, and none for text of a request but the client id and the plain names in a path that
/// looks like an endpoint: codes, tokens, verifiers, states and
/// URIs have no place here (RFC 6819, section 4.4.1.1).
///
/// A reference: it goes from its worker through a ring to the writer, and a copy of the values would count references of each.
public final class DecisionRecord: Sendable {
  /// Milliseconds since 1970.
  public let time: Int64
  /// Joins the lines about one request.
  public let request: String?
  /// Joins the legs of one flow; `nil` before a flow has begun.
  public let transaction: String?
  /// Joins the redemption of a code with the refreshes and the revocation of its tokens.
  public let family: String?
  public let endpoint: DecisionEndpoint
  /// As the request says it, cut to 256 bytes; it need not be configured.
  public let client: String?
  public let decision: DecisionKind
  /// The stable id of the rule that decided.
  public let rule: String?
  /// As sent to the client.
  public let status: Int
  /// `enforce` or `observe`.
  public let mode: String
  /// Ids of what was noticed without being decisive.
  public let findings: [String]
  /// The kind of redirect URI, e.g. `loopback`; never the URI.
  public let redirectKind: String?
  /// Of a path that looks like an endpoint: the entry of `upstream.not_endpoints` that would let it by, with `*` for ids.
  public let path: String?
  /// `nil` when the upstream was not asked or did not answer.
  public let upstreamStatus: Int?
  public let durationNanoseconds: UInt64
  public let peer: String
  public let policyVersion: String
  /// Of a repeated refresh: the network of the first use, and its own.
  public let networks: RefreshNetworks?
  /// More about an observed request; `nil` for every other one.
  public let observed: ObservedRequest?

  public init(
    time: Int64, request: String? = nil, transaction: String? = nil, family: String? = nil, endpoint: DecisionEndpoint,
    client: String? = nil, decision: DecisionKind,
    rule: String? = nil, status: Int, mode: String, findings: [String] = [], redirectKind: String? = nil,
    path: String? = nil, upstreamStatus: Int? = nil, durationNanoseconds: UInt64, peer: String, policyVersion: String,
    networks: RefreshNetworks? = nil, observed: ObservedRequest? = nil
  ) {
    self.time = time
    self.request = request
    self.transaction = transaction
    self.family = family
    self.endpoint = endpoint
    self.client = client
    self.decision = decision
    self.rule = rule
    self.status = status
    self.mode = mode
    self.findings = findings
    self.redirectKind = redirectKind
    self.path = path
    self.upstreamStatus = upstreamStatus
    self.durationNanoseconds = durationNanoseconds
    self.peer = peer
    self.policyVersion = policyVersion
    self.networks = networks
    self.observed = observed
  }
}

/// The two networks of a repeated refresh, e.g. `192.0.2.0/24`.
public struct RefreshNetworks: Sendable {
  public let first: String
  public let repeated: String

  public init(first: String, repeated: String) {
    self.first = first
    self.repeated = repeated
  }
}
