/// The answer to the question whether a client can be enforced: its requests, and the rules that would refuse some of
/// them. `proofgate readiness` computes it from a log. A page can compute it from its own counters.
public struct ClientReadiness: Sendable, Encodable {
  /// The state of a client.
  public enum State: String, Sendable, Encodable {
    /// The client was used, sign-ins were completed, and no rule would have refused a request.
    case ready
    /// Rules would have refused requests, or there is another problem.
    case notReady = "not_ready"
    /// No request of the client is known.
    case notSeen = "not_seen"
    /// The policy does not list the id, so only the rule about unknown clients was evaluated.
    case notListed = "not_listed"
    /// The rules are carried out already.
    case enforced
  }

  /// A rule that refused requests, or would have refused them.
  public struct Rule: Sendable, Encodable {
    /// The id of the rule.
    public let rule: String
    /// The number of requests.
    public let requests: Int
    /// The time of the first and of the last request, in the format of RFC 3339; `nil` if it is not known.
    public let first: String?
    /// The time of the last request; `nil` if it is not known.
    public let last: String?
    /// The latest request in a few words, without secrets.
    public let example: String?

    /// Creates the value. The parameters are described at the members of the same name.
    public init(rule: String, requests: Int, first: String? = nil, last: String? = nil, example: String? = nil) {
      self.rule = rule
      self.requests = requests
      self.first = first
      self.last = last
      self.example = example
    }
  }

  enum CodingKeys: String, CodingKey {
    case client, state, requests, refused, completed, first, last, rules, problems
    case notObservable = "not_observable"
  }

  /// The client id.
  public let client: String
  /// The state of the client.
  public let state: State
  /// The number of requests.
  public let requests: Int
  /// The number of requests that at least one rule refused or would have refused.
  public let refused: Int
  /// The number of redemptions for which not all rules could be evaluated.
  public let notObservable: Int
  /// The number of sign-ins whose code the server has exchanged for tokens.
  public let completed: Int
  /// True if the policy does not list the id, and the gateway refused its latest request. Not part of the JSON.
  public let isTurnedAway: Bool
  /// The time of the first request, in the format of RFC 3339; `nil` if it is not known.
  public let first: String?
  /// The time of the last request; `nil` if it is not known.
  public let last: String?
  /// The rules, the most frequent first.
  public let rules: [Rule]
  /// Other reasons for which the client is not ready, or for which its sign-ins fail once it is enforced.
  public let problems: [String]
  /// Remarks on a client that is ready. Not part of the JSON.
  private let notes: [String]

  /// Decides the state of a client.
  ///
  /// - Parameters:
  ///   - isListed: False if the policy does not list the id.
  ///   - isEnforced: True if the policy enforces the client.
  ///   - isTurnedAway: True if the gateway refused its latest request as one of an unknown client.
  public init(
    client: String, requests: Int, refused: Int, notObservable: Int = 0, completed: Int = 0, first: String? = nil,
    last: String? = nil, rules: [Rule], problems: [String] = [], notes: [String] = [], isListed: Bool = true,
    isEnforced: Bool = false, isTurnedAway: Bool = false
  ) {
    self.client = client
    self.requests = requests
    self.refused = refused
    self.notObservable = notObservable
    self.completed = completed
    self.problems = problems
    self.notes = notes
    self.isTurnedAway = !isListed && isTurnedAway
    self.first = first
    self.last = last
    self.rules = rules.sorted { ($1.requests, $0.rule) < ($0.requests, $1.rule) }
    if isEnforced {
      state = .enforced
    } else if !isListed {
      state = .notListed
    } else if requests == 0 {
      state = .notSeen
    } else {
      state = rules.isEmpty && problems.isEmpty ? .ready : .notReady
    }
  }

  /// The advice for the operator, as one sentence.
  public var advice: String {
    switch state {
    case .ready: (["ready to enforce"] + notes).joined(separator: "; ")
    case .notReady:
      "not ready: \((rules.map { "\($0.rule) (\($0.requests))" } + problems).joined(separator: ", "))"
    case .notSeen: "no request in the log; observe it for longer, or remove it"
    case .notListed where isTurnedAway: "not in the policy, so its requests are refused; list it if it is yours"
    case .notListed: "not in the policy, so its requests were not judged; list it, or refuse it"
    case .enforced: (["enforced"] + problems).joined(separator: "; ")
    }
  }
}
