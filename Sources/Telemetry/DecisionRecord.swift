/// The content of one decision-log line: the judgement of one request.
///
/// It has no field for secrets. The only text from the request is the client id, the plain names of a path that
/// resembles an endpoint, and the shortened texts of an `ObservedRequest`. Codes, tokens, verifiers and states are
/// never logged (RFC 6819, section 4.4.1.1).
///
/// A class, because a worker passes the record through a ring to the writer, and copying a struct would retain every
/// string.
public final class DecisionRecord: Sendable {
  /// The time of the request, in milliseconds since 1970.
  public let time: Int64
  /// The id that all lines about one request share.
  public let request: String?
  /// The id that all requests of one flow share; `nil` before a flow has begun.
  public let transaction: String?
  /// The id that the redemption of a code shares with the refreshes and the revocation of its tokens.
  public let family: String?
  /// The endpoint that judged the request.
  public let endpoint: DecisionEndpoint
  /// The client id as the request gives it. It need not be configured; the line cuts it to 256 bytes.
  public let client: String?
  /// The result of the judgement.
  public let decision: DecisionKind
  /// The stable id of the rule that decided.
  public let rule: String?
  /// The HTTP status that the client received; 0 for a line that is written before the response is known.
  public let status: Int
  /// `enforce` or `observe`.
  public let mode: String
  /// The ids of findings that did not decide the request.
  public let findings: [String]
  /// The kind of redirect URI, e.g. `loopback`; never the URI.
  public let redirectKind: String?
  /// The entry of `upstream.not_endpoints` that would let this path through, with `*` for ids; set for a path that
  /// resembles an endpoint.
  public let path: String?
  /// The HTTP status of the upstream; `nil` when the gateway did not ask it or it did not answer.
  public let upstreamStatus: Int?
  /// The time from the request to its answer, in nanoseconds.
  public let durationNanoseconds: UInt64
  /// The IP address of the client.
  public let peer: String
  /// The version of the policy that was in force.
  public let policyVersion: String
  /// The networks of the first and of this use of a refresh token; set for a repeated refresh only.
  public let networks: RefreshNetworks?
  /// Details of an observed request; `nil` for all other requests.
  public let observed: ObservedRequest?

  /// Creates a record from its members; each parameter is described at the member of the same name.
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
  /// The network of the first use.
  public let first: String
  /// The network of the repeated use.
  public let repeated: String

  /// Creates the pair from the texts of both networks.
  public init(first: String, repeated: String) {
    self.first = first
    self.repeated = repeated
  }
}
