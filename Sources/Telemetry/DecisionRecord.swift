public import Time

/// The content of one line of the decision log: the gateway's decision about one request.
///
/// It has no member for secrets. The only text from the request is the client id, the path in the notation of
/// `upstream.not_endpoints` if it resembles an endpoint, and the shortened texts of an `ObservedRequest`. Codes,
/// tokens, verifiers and states are never logged (RFC 6819, section 4.4.1.1).
///
/// This type is a class because a worker passes the record through a buffer to the writer, and copying a struct would
/// retain every string.
public final class DecisionRecord: Sendable {
  /// The time at which the record was created, just before the response.
  public let time: Timestamp
  /// The id that all lines about one request share.
  public let request: String?
  /// The id of the authorization transaction, which all requests of one sign-in share; `nil` before it has begun.
  public let transaction: String?
  /// The id that the redemption of a code shares with the refreshes and the revocation of its tokens.
  public let family: String?
  /// The endpoint whose rules were applied.
  public let endpoint: DecisionEndpoint
  /// The client id in the request. The policy need not have such a client. The line contains at most 256 bytes of it.
  public let client: String?
  /// The decision.
  public let decision: DecisionKind
  /// The stable id of the rule that decided; `nil` if no rule did.
  public let rule: String?
  /// The HTTP status that the client received; 0 for a line that is written before the response is known.
  public let status: Int
  /// `enforce` or `observe`.
  public let mode: String
  /// The ids of rules that found a problem, but did not decide.
  public let findings: [String]
  /// The kind of redirect URI, e.g. `loopback`; never the URI.
  public let redirectKind: String?
  /// For a path that resembles an endpoint: the entry of `upstream.not_endpoints` that would let the path through, with
  /// `*` in place of ids.
  public let path: String?
  /// The HTTP status of the upstream's response; `nil` if the gateway sent no request upstream or got no response.
  public let upstreamStatus: Int?
  /// The time from the request to its response, in nanoseconds.
  public let durationNanoseconds: UInt64
  /// The IP address of the client.
  public let peer: String
  /// The version of the policy that was applied.
  public let policyVersion: String
  /// The networks of the first use and of this use of a refresh token; `nil` if this request does not repeat a refresh.
  public let networks: RefreshNetworks?
  /// Details of an observed request; `nil` for all other requests.
  public let observed: ObservedRequest?

  /// Creates a record from its members; each parameter is described at the member of the same name.
  public init(
    time: Timestamp, request: String? = nil, transaction: String? = nil, family: String? = nil,
    endpoint: DecisionEndpoint,
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
