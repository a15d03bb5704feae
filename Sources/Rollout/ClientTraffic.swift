/// The requests of one client in logs.
public struct ClientTraffic: Sendable {
  /// A rule that refused requests, or would have refused them.
  public struct Refusal: Sendable {
    /// The number of requests.
    public var count = 0
    /// The time of the first and of the last request, in the format of RFC 3339.
    public var first: String
    /// The time of the last request.
    public var last: String
    /// The latest request, without secrets.
    public var example: SeenRequest

    /// Creates the value. The parameters are described at the members of the same name.
    public init(count: Int = 0, first: String, last: String, example: SeenRequest) {
      self.count = count
      self.first = first
      self.last = last
      self.example = example
    }
  }

  /// The length of the texts that one client may have in its tallies, in bytes. Any client may have many long ones.
  private static let maximumText = 16 * 1024

  /// The client id.
  public let id: String
  /// The network of the first request; empty if it is not known.
  let network: String
  /// True if the server has accepted a token request with this id.
  var isProven = false
  /// True if a decision log has requests of the client. An access log does not name the client of a token request.
  private(set) var isInDecisionLog = false
  private var room = ClientTraffic.maximumText
  /// All requests.
  public private(set) var all: Counts
  /// The requests since the policy lists the client: those after the latest one of an unknown client.
  public private(set) var listed: Counts
  /// The time of the latest request of an unknown client; empty if there is none.
  private var lastUnlisted = ""
  /// True if the policy of the latest requests listed the client, as far as the log shows it.
  var isJudgedAsListed: Bool { lastUnlisted.isEmpty || listed.judged > 0 }
  /// The number of authorization requests.
  public private(set) var authorizationRequests = 0
  /// The number of token requests.
  public private(set) var tokenRequests = 0
  /// The redirect URIs without query and loopback port.
  public private(set) var redirectURIs = Tally(limit: 50)
  /// Texts that are no redirect URIs, in an access log.
  public private(set) var malformedRedirectURIs = Tally(limit: 10)
  /// The response types.
  public private(set) var responseTypes = Tally(limit: 10)
  /// The grants of token requests.
  public private(set) var grants = Tally(limit: 10)
  /// The methods of client authentication.
  public private(set) var authentication = Tally(limit: 10)
  /// The use of PKCE in authorization requests.
  public private(set) var pkce = Tally(limit: 10)
  /// The scope tokens.
  public private(set) var scopes = Tally(limit: 100)

  init(id: String, time: String, network: String) {
    self.id = id
    self.network = network
    all = Counts(first: time, last: time)
    listed = Counts(first: time, last: time)
  }

  /// Creates the traffic of a client from numbers that were counted elsewhere. They suffice for its readiness.
  ///
  /// - Parameter counts: The requests since the policy lists the client, or all of them if it does not.
  public init(id: String, _ counts: Counts) {
    self.id = id
    network = ""
    all = counts
    listed = counts
  }

  mutating func add(_ seen: SeenRequest) {
    if seen.path == nil { isInDecisionLog = true }
    all.add(seen)
    if seen.isOfUnknownClient {
      // Logs may be read in any order. Requests from before the listing do not show how the listed client is judged.
      if seen.time >= listed.last { listed = Counts(first: seen.time, last: seen.time) }
      lastUnlisted = max(lastUnlisted, seen.time)
    } else if seen.time > lastUnlisted {
      listed.add(seen)
    }
    switch seen.endpoint {
    case .authorization:
      authorizationRequests += 1
      pkce.add(seen.pkce, &room)
      redirectURIs.add(seen.redirectURI, &room)
      malformedRedirectURIs.add(seen.malformedRedirectURI, &room)
      responseTypes.add(seen.responseType, &room)
    case .token:
      tokenRequests += 1
      grants.add(seen.grant, &room)
      authentication.add(seen.authentication, &room)
    case .other: break
    }
    for scope in (seen.scope ?? "").split(separator: " ") { scopes.add(String(scope), &room) }
  }
}

extension ClientTraffic {
  /// Numbers of requests, and the rules that refused some of them.
  public struct Counts: Sendable {
    private static let maximumRules = 100

    /// The number of requests.
    public var requests = 0
    /// The number of requests that a rule refused or would have refused.
    public var refusedRequests = 0
    /// The number of redemptions for which not all rules could be evaluated.
    public var notObservable = 0
    /// The time of the first and of the last request, in the format of RFC 3339.
    public var first: String
    /// The time of the last request.
    public var last: String
    /// The refusals, by the id of the rule.
    public var refusals: [String: Refusal] = [:]
    /// The sign-ins.
    public var signIns = SignIns()
    /// The number of requests whose rules include those that depend on the client.
    var judged = 0

    /// Creates the value without requests. The parameters are described at the members of the same name.
    public init(first: String, last: String) {
      self.first = first
      self.last = last
    }

    mutating func add(_ seen: SeenRequest) {
      first = requests == 0 ? seen.time : min(first, seen.time)
      last = requests == 0 ? seen.time : max(last, seen.time)
      requests += 1
      if !seen.isRefusedBeforeClient { judged += 1 }
      if seen.isNotObservable { notObservable += 1 }
      if seen.endpoint != .other, seen.path == nil {
        signIns.add(
          isToken: seen.endpoint == .token, grant: seen.grant, authentication: seen.authentication,
          status: seen.isRejected ? nil : seen.upstreamStatus)
      }
      if !seen.rules.isEmpty { refusedRequests += 1 }
      for rule in seen.rules where refusals[rule] != nil || refusals.count < Counts.maximumRules {
        var refusal = refusals[rule] ?? Refusal(first: seen.time, last: seen.time, example: seen)
        refusal.count += 1
        refusal.first = min(refusal.first, seen.time)
        if seen.time >= refusal.last {
          refusal.last = seen.time
          refusal.example = seen
        }
        refusals[rule] = refusal
      }
    }
  }
}
