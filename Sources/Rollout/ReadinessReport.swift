/// The readiness of all clients of a log.
public struct ReadinessReport: Sendable, Encodable {
  /// The mode of a client in a policy.
  public struct ListedClient: Sendable {
    /// The client id.
    public let id: String
    let isEnforced: Bool

    /// Creates the value. The parameters are described at the members of the same name.
    public init(id: String, isEnforced: Bool) {
      self.id = id
      self.isEnforced = isEnforced
    }
  }

  /// The clients of a policy, in the order of their ids.
  public struct ListedClients: Sendable {
    /// The ids, in order.
    let ids: [String]
    /// True for each id of a client that is enforced.
    let modes: [String: Bool]

    /// Creates the value from clients in any order.
    public init(_ clients: [ListedClient]) {
      modes = Dictionary(clients.map { ($0.id, $0.isEnforced) }) { $0 || $1 }
      ids = modes.keys.sorted()
    }
  }

  enum CodingKeys: String, CodingKey {
    case clients
    case completionPaths = "completion_paths"
    case unreadableLines = "unreadable_lines"
    case omittedRequests = "omitted_requests"
  }

  /// The clients, those that are not ready first.
  public let clients: [ClientReadiness]
  /// The paths, besides the authorization endpoint, from which the server has sent codes that it then accepted: the
  /// entries for `upstream.completion_paths`.
  public let completionPaths: [String]
  /// The number of lines in no known format.
  public let unreadableLines: Int
  /// The number of requests of clients beyond the maximum number of clients.
  public let omittedRequests: Int

  /// The number of clients with rules that would refuse requests.
  public var notReadyCount: Int { clients.count { $0.state == .notReady } }

  /// The rules about ids that the policy does not list, at the authorization endpoint and at the token endpoint. For such
  /// an id no other rule is evaluated.
  private static let unknownClientRules: Set = ["client-unknown", "client-not-known"]

  /// The number of clients of the policy without requests that are left out.
  public let omittedClients: Int

  /// Creates the report.
  ///
  /// - Parameter listed: The clients of the policy; `nil` if no policy is known. Then the log decides: a client is
  ///   listed if its latest request was not one of an unknown client.
  public init(_ traffic: Traffic, listed: [ListedClient]?) {
    self.init(
      traffic.clients, listed: listed.map(ListedClients.init), completionPaths: traffic.completionPrefixes,
      unreadableLines: traffic.unreadableLines,
      omittedRequests: traffic.omittedRequests)
  }

  /// Creates the report from the traffic of clients, by id.
  ///
  /// - Parameters:
  ///   - listed: As above.
  ///   - completionPaths: The entries for `upstream.completion_paths`.
  ///   - limit: The number of clients up to which the report contains clients without requests.
  ///   - unreadableLines: The number of lines in no known format.
  ///   - omittedRequests: The number of requests of further clients.
  public init(
    _ traffic: [String: ClientTraffic], listed: ListedClients?, completionPaths: [String] = [], limit: Int = .max,
    unreadableLines: Int = 0, omittedRequests: Int
  ) {
    var clients = traffic.values.map { seen in
      let unlisted = seen.refusals.filter { ReadinessReport.unknownClientRules.contains($0.key) }.values
      let latest = unlisted.max { $0.last < $1.last }
      return ReadinessReport.readiness(
        of: seen, unlisted: unlisted.reduce(0) { $0 + $1.count },
        isListed: listed.map { $0.modes[seen.id] != nil } ?? unlisted.allSatisfy { $0.last < seen.last },
        isEnforced: listed?.modes[seen.id] ?? false, isTurnedAway: latest?.example.isRejected ?? false)
    }
    var omitted = 0
    for id in listed?.ids ?? [] where traffic[id] == nil {
      guard clients.count < limit else {
        omitted += 1
        continue
      }
      clients.append(
        ClientReadiness(
          client: id, requests: 0, refused: 0, rules: [], isEnforced: listed?.modes[id] ?? false))
    }
    // Ids that the server has accepted are shown in front of those that anyone could have sent.
    func rank(_ client: ClientReadiness) -> (Int, Int, Int, String) {
      (client.order, traffic[client.client]?.isProven == true ? 0 : 1, -client.requests, client.client)
    }
    self.clients = clients.sorted { rank($0) < rank($1) }
    self.completionPaths = completionPaths
    self.unreadableLines = unreadableLines
    self.omittedRequests = omittedRequests
    omittedClients = omitted
  }

  private static func readiness(
    of seen: ClientTraffic, unlisted: Int, isListed: Bool, isEnforced: Bool, isTurnedAway: Bool
  ) -> ClientReadiness {
    // Requests from before the client was listed were not judged.
    let skipped = isListed ? unlisted : 0
    let rules = seen.refusals.filter { !isListed || !unknownClientRules.contains($0.key) }.map { rule, refusal in
      ClientReadiness.Rule(
        rule: rule, requests: refusal.count, first: refusal.first, last: refusal.last, example: refusal.example.summary)
    }
    return ClientReadiness(
      client: seen.id, requests: seen.requests - skipped, refused: seen.refusedRequests - skipped,
      notObservable: seen.notObservable, first: seen.first, last: seen.last, rules: rules, isListed: isListed,
      isEnforced: isEnforced, isTurnedAway: isTurnedAway)
  }
}

extension ClientReadiness {
  /// The position of the state in a report.
  fileprivate var order: Int {
    switch state {
    case .notReady: 0
    case .notListed: 1
    case .notSeen: 2
    case .ready: 3
    case .enforced: 4
    }
  }
}

extension SeenRequest {
  /// The request in a few words, without secrets.
  var summary: String {
    var words: [String] = []
    switch endpoint {
    case .authorization: words.append("authorization")
    case .token: words.append("token")
    case .other: words.append("other endpoint")
    }
    for (name, value) in [
      ("redirect_uri", redirectURI), ("response_type", responseType), ("grant", grant),
      ("client_authentication", authentication), ("pkce", pkce), ("path", completionPath), ("request", request),
    ] {
      if let value { words.append("\(name)=\(value)") }
    }
    return words.joined(separator: " ")
  }
}
