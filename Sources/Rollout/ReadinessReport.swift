/// The readiness of all clients of a log.
public struct ReadinessReport: Sendable, Encodable {
  /// A client of a policy, as far as its readiness depends on it.
  public struct ListedClient: Sendable {
    /// The client id.
    public let id: String
    let isEnforced: Bool
    let dropsCredentials: Bool

    /// Creates the value.
    ///
    /// - Parameters:
    ///   - id: The client id.
    ///   - isEnforced: True if the policy enforces the client.
    ///   - dropsCredentials: True if the server gets no credentials once the client is enforced, even if the app sends some
    ///     (`Client.dropsCredentials`).
    public init(id: String, isEnforced: Bool, dropsCredentials: Bool = false) {
      self.id = id
      self.isEnforced = isEnforced
      self.dropsCredentials = dropsCredentials
    }
  }

  /// The clients of a policy, in the order of their ids.
  public struct ListedClients: Sendable {
    /// The ids, in order.
    let ids: [String]
    /// The clients, by id.
    let clients: [String: ListedClient]

    /// Creates the value from clients in any order.
    public init(_ clients: [ListedClient]) {
      self.clients = Dictionary(clients.map { ($0.id, $0) }) { first, _ in first }
      ids = self.clients.keys.sorted()
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
      ReadinessReport.readiness(
        of: seen, listed?.clients[seen.id],
        isListed: listed.map { $0.clients[seen.id] != nil } ?? seen.isJudgedAsListed, knowsPolicy: listed != nil)
    }
    var omitted = 0
    for id in listed?.ids ?? [] where traffic[id] == nil {
      guard clients.count < limit else {
        omitted += 1
        continue
      }
      clients.append(
        ClientReadiness(
          client: id, requests: 0, refused: 0, rules: [], isEnforced: listed?.clients[id]?.isEnforced ?? false))
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
    of seen: ClientTraffic, _ client: ListedClient?, isListed: Bool, knowsPolicy: Bool
  ) -> ClientReadiness {
    // Requests from before the client was listed were not judged.
    let counts = isListed ? seen.listed : seen.all
    let rules = counts.refusals.map { rule, refusal in
      ClientReadiness.Rule(
        rule: rule, requests: refusal.count, first: refusal.first, last: refusal.last, example: refusal.example.summary)
    }
    let latest = seen.all.refusals.values.filter(\.example.isOfUnknownClient).max { $0.last < $1.last }
    var problems: [String] = []
    if let problem = counts.signIns.problem, client?.isEnforced != true { problems.append(problem) }
    if counts.signIns.needCredentials, client?.dropsCredentials == true {
      problems.append(
        "the server gets the app's secret today, and none once the client is enforced; set `upstream.client_secret`")
    }
    var notes: [String] = []
    if counts.notObservable > 0 { notes.append("\(counts.notObservable) redemptions could not be judged completely") }
    if counts.signIns.needCredentials, !knowsPolicy {
      notes.append("the server gets a secret of the app, so compare with `--policy` that it still gets one")
    }
    return ClientReadiness(
      client: seen.id, requests: counts.requests, refused: counts.refusedRequests,
      notObservable: counts.notObservable, completed: counts.signIns.completed, first: counts.first,
      last: counts.last, rules: rules, problems: isListed ? problems : [], notes: notes, isListed: isListed,
      isEnforced: client?.isEnforced ?? false, isTurnedAway: latest?.example.isRejected ?? false)
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
