/// The requests of a decision log, by what the log has of them. `proofgate diff` decides each kind of request once, and
/// counts it as often as it occurs.
public struct LoggedRequests: Sendable {
  /// A request as the log describes it. Requests that are equal here get the same decision.
  struct Kind: Hashable, Sendable {
    /// The endpoints whose requests can be rebuilt, with their names in the log.
    enum Endpoint: String, Sendable {
      case authorization
      case pushedAuthorization = "pushed_authorization"
      case token
    }

    let endpoint: Endpoint
    let client: String
    let redirectURI: String?
    let responseType: String?
    let grant: String?
    let authentication: String?
    let pkce: String?
    let scope: String?
    let lacksState: Bool
    let isEmbedded: Bool
    /// The rule that refused the request, or would have refused it.
    let rule: String?
  }

  /// The maximum number of different kinds. Requests of further kinds are counted as not rebuilt, because a log contains
  /// texts of attackers.
  static let maximumKinds = 10_000

  /// The number of requests of each kind.
  private(set) var counts: [Kind: Int] = [:]
  /// The kinds in the order of the log.
  private(set) var kinds: [Kind] = []
  /// The number of lines that cannot be rebuilt, by the reason.
  private(set) var skipped: [String: Int] = [:]

  /// True if no line is a decision: the file is empty, or it is no decision log.
  public var hasNoDecision: Bool { kinds.isEmpty && skipped.keys.allSatisfy { $0 == LoggedRequests.noDecision } }

  private static let noDecision = "lines that are no decision"

  /// Creates an empty collection.
  public init() {}

  /// Adds a line of a log. An empty line is ignored.
  public mutating func add(_ line: [UInt8]) {
    guard !line.isEmpty else { return }
    guard let decision = LoggedDecision(parsing: line) else { return skip(LoggedRequests.noDecision) }
    guard let endpoint = Kind.Endpoint(rawValue: decision.endpoint) else {
      return skip("requests of other endpoints than authorization, pushed authorization and token")
    }
    guard let client = decision.client, LoggedRequests.isComplete(decision, endpoint) else {
      return skip("lines without the content of a request (pages of a sign-in, or an earlier version)")
    }
    let texts = [client, decision.redirectURI, decision.scope, decision.responseType]
    guard !texts.contains(where: { $0?.hasSuffix("...") ?? false }) else { return skip("requests that the log cuts") }
    let names = Set(decision.findings)
    let kind = Kind(
      endpoint: endpoint, client: client, redirectURI: decision.redirectURI, responseType: decision.responseType,
      grant: decision.grant, authentication: decision.authentication, pkce: decision.pkce, scope: decision.scope,
      lacksState: !names.isDisjoint(with: ["state-missing", "would-reject:state-required"])
        || decision.rule == "state-required",
      isEmbedded: !names.isDisjoint(with: ["user-agent-embedded", "would-reject:user-agent-embedded"])
        || decision.rule == "user-agent-embedded",
      rule: decision.rule)
    if counts[kind] == nil {
      guard kinds.count < LoggedRequests.maximumKinds else { return skip("requests of further kinds") }
      kinds.append(kind)
    }
    counts[kind, default: 0] += 1
  }

  private mutating func skip(_ reason: String) { skipped[reason, default: 0] += 1 }

  /// Returns true if the line has the members with which the gateway describes a request.
  private static func isComplete(_ decision: LoggedDecision, _ endpoint: Kind.Endpoint) -> Bool {
    switch endpoint {
    case .authorization: decision.pkce != nil
    case .pushedAuthorization: decision.pkce != nil && decision.authentication != nil
    case .token: decision.grant != nil && decision.authentication != nil
    }
  }
}
