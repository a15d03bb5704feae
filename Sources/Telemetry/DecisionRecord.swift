public import Time

/// The content of one line of the decision log: the gateway's decision about one request, or a report about a removed
/// header field or about an authorization response that was observed on a path that is not an endpoint.
///
/// Codes, tokens, verifiers and states are never logged (RFC 6819, section 4.4.1.1). The only members with text from
/// the request are `client`, `path` and `details`.
///
/// This type is a class, because the record is copied through a buffer to the writer thread, and each copy of a struct
/// would retain every string.
public final class DecisionRecord: Sendable {
  /// The time at which the record was created, before the response is sent.
  public let time: Timestamp
  /// The id that all lines about one request share.
  public let request: String?
  /// The id that all lines of one sign-in share, from the authorization request to the last refresh; `nil` for requests
  /// that belong to no known sign-in.
  public let flow: String?
  /// The id of the distributed trace to which the request belongs; `nil` if there is none.
  public let trace: String?
  /// The id that all requests of one sign-in share; `nil` for requests that belong to no known sign-in.
  public let transaction: String?
  /// The id that the redemption of a code, the refreshes of its tokens and their revocation share.
  public let family: String?
  /// The endpoint whose rules were applied; `otherPath` for a line about a removed header field or about an
  /// authorization response that was observed on a path that is not an endpoint.
  public let endpoint: DecisionEndpoint
  /// The client id in the request, which may be unknown to the policy. The line contains at most 256 bytes of it.
  public let client: String?
  /// The gateway's decision.
  public let decision: DecisionKind
  /// The state of the flow after the request; `nil` if it was refused, or if it leads to no new state.
  public let step: DecisionStep?
  /// The `grant_type` of a token request; `other` for one that the gateway does not know.
  public let grant: String?
  /// The id of the rule that refused the request, or would have refused it in enforce mode; `nil` if there is no such
  /// rule.
  public let rule: String?
  /// The HTTP status of the response to the client; 0 if the gateway did not intercept the request, but let it or its
  /// response pass, e.g. in a line about a removed header field.
  public let status: Int
  /// `enforce` or `observe`.
  public let mode: String
  /// Problems for which the request was not refused, e.g. `would-reject:` and the id of a rule, or
  /// `identity-field-dropped:` and the name of a header field.
  public let findings: [String]
  /// The kind of redirect URI, e.g. `loopback`; never the URI.
  public let redirectKind: String?
  /// The path of the request, if the decision depends on it, or the path from which the server sent an observed code, with `*` in place of ids and secrets. If the path
  /// resembles an endpoint, an entry of `upstream.not_endpoints` with this text would make the gateway forward the
  /// request.
  public let path: String?
  /// The HTTP status of the upstream's response; `nil` if the gateway sent no request upstream or got no response.
  public let upstreamStatus: Int?
  /// The time from the request to the creation of its response, in nanoseconds.
  public let durationNanoseconds: UInt64
  /// The IP address of the client.
  public let peer: String
  /// The version of the policy that was applied.
  public let policyVersion: String
  /// The networks from which a refresh token was used first and now; `nil` if this request does not repeat a refresh.
  public let networks: RefreshNetworks?
  /// Details of an authorization or token request; `nil` for all other requests.
  public let details: RequestDetails?

  /// Creates a record. The parameters are described at the members of the same name.
  public init(
    time: Timestamp, request: String? = nil, flow: String? = nil, trace: String? = nil, transaction: String? = nil,
    family: String? = nil,
    endpoint: DecisionEndpoint,
    client: String? = nil, decision: DecisionKind, step: DecisionStep? = nil, grant: String? = nil,
    rule: String? = nil, status: Int, mode: String, findings: [String] = [], redirectKind: String? = nil,
    path: String? = nil, upstreamStatus: Int? = nil, durationNanoseconds: UInt64, peer: String, policyVersion: String,
    networks: RefreshNetworks? = nil, details: RequestDetails? = nil
  ) {
    self.time = time
    self.request = request
    self.flow = flow
    self.trace = trace
    self.transaction = transaction
    self.family = family
    self.endpoint = endpoint
    self.client = client
    self.decision = decision
    self.step = step
    self.grant = grant
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
    self.details = details
  }
}

/// The two networks, e.g. `192.0.2.0/24`, from which the same refresh token was used.
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
