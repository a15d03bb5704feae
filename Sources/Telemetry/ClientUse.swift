public import Time

/// The requests of one client, and the rules that refused some of them or would have refused them. The numbers are those
/// that `proofgate readiness` counts in the decision log.
public struct ClientUse: Sendable {
  /// The requests that one rule refused or would have refused.
  public struct Refusal: Sendable {
    /// The number of requests.
    public internal(set) var count: Int
    /// The time of the first request.
    public internal(set) var first: Timestamp
    /// The time of the last request.
    public internal(set) var last: Timestamp
    /// The record of the last request.
    public internal(set) var example: DecisionRecord
  }

  /// The sign-ins of the client, as far as its requests show how they went on. `proofgate readiness` counts the same in
  /// the log.
  public struct SignIns: Sendable {
    /// The number of authorization requests.
    public internal(set) var started = 0
    /// The number of redemptions that the server has answered with 200.
    public internal(set) var completed = 0
    /// The number of refreshes that the server has answered with 200.
    public internal(set) var refreshed = 0
    /// The number of token requests with client credentials that the server has answered with 200.
    public internal(set) var withCredentials = 0
    /// The number of token requests without client credentials that the server has answered with 200.
    public internal(set) var withoutCredentials = 0
    /// The status of the latest answer of the server that did not continue a sign-in; `nil` if there is none.
    public internal(set) var failure: Int?
    /// True if `failure` is the status of a token request, false if it is that of an authorization request.
    public internal(set) var failedAtToken = false
  }

  /// True if the policy listed the client at its latest request.
  public internal(set) var isListed: Bool
  /// True if the server has answered a token request with this id with 200. Servers refuse ids that they do not know.
  private(set) var isProven = false
  /// The network of the first request.
  let network: Substring
  /// The number of requests.
  public internal(set) var requests = 0
  /// The number of requests that at least one rule refused or would have refused.
  public internal(set) var refused = 0
  /// The number of redemptions for which not all rules could be evaluated.
  public internal(set) var notObservable = 0
  /// The time of the first request.
  public internal(set) var first: Timestamp
  /// The time of the last request.
  public internal(set) var last: Timestamp
  /// The refusals, by the id of the rule.
  public internal(set) var refusals: [String: Refusal] = [:]
  /// The sign-ins.
  public private(set) var signIns = SignIns()

  /// Creates the use of a client with its first request, which is not counted yet.
  init(isListed: Bool, _ record: DecisionRecord) {
    self.isListed = isListed
    network = record.network
    isProven = record.provesClient
    first = record.time
    last = record.time
  }

  /// Begins to count again, because the policy lists the client now. Its earlier requests were not judged.
  mutating func restart(at time: Timestamp) {
    requests = 0
    refused = 0
    notObservable = 0
    first = time
    last = time
    refusals = [:]
    signIns = SignIns()
  }

  /// Counts a request. A form of the server in an observed sign-in is no request of the client.
  ///
  /// - Parameter limit: The number of refusals that may be added to ``refusals``.
  mutating func add(_ record: DecisionRecord, upTo limit: Int) {
    guard record.step != .login || record.mode != "observe" else { return }
    requests += 1
    signIns.add(record)
    if record.provesClient { isProven = true }
    // The system clock can be set back.
    if record.time.milliseconds < first.milliseconds { first = record.time }
    if record.time.milliseconds > last.milliseconds { last = record.time }
    if record.decision == .notObservable { notObservable += 1 }
    let rules = record.refusedRules
    guard !rules.isEmpty else { return }
    refused += 1
    var free = limit
    for rule in rules {
      if refusals[rule]?.add(record) != nil { continue }
      guard free > 0 else { continue }
      free -= 1
      refusals[rule] = Refusal(count: 1, first: record.time, last: record.time, example: record)
    }
  }
}

extension ClientUse.SignIns {
  fileprivate mutating func add(_ record: DecisionRecord) {
    let isToken = record.endpoint == .token
    guard isToken || record.endpoint == .authorization || record.endpoint == .pushedAuthorization else { return }
    if !isToken { started += 1 }
    guard record.decision != .reject, let status = record.upstreamStatus else { return }
    let grant = record.grant ?? record.details?.grant
    if isToken, status == 200 {
      if grant == "authorization_code" { completed += 1 }
      if grant == "refresh_token" { refreshed += 1 }
      switch record.details?.clientAuthentication {
      case nil: break
      case "none": withoutCredentials += 1
      case .some: withCredentials += 1
      }
    } else if status >= 400, !isToken || grant == "authorization_code" {
      failure = status
      failedAtToken = isToken
    }
  }
}

extension ClientUse.Refusal {
  fileprivate mutating func add(_ record: DecisionRecord) {
    count += 1
    if record.time.milliseconds < first.milliseconds { first = record.time }
    guard record.time.milliseconds >= last.milliseconds else { return }
    last = record.time
    example = record
  }
}

extension DecisionRecord {
  /// The network of the client: the first three numbers of an IPv4 address, or three groups of an IPv6 address.
  fileprivate var network: Substring {
    let separator: Character = peer.contains(":") ? ":" : "."
    let parts = peer.split(separator: separator, maxSplits: 3, omittingEmptySubsequences: false)
    return parts.count > 3 ? peer[..<parts[3].startIndex] : peer[...]
  }

  /// True if the server has accepted the client in this request.
  fileprivate var provesClient: Bool { endpoint == .token && decision != .reject && upstreamStatus == 200 }

  private static let wouldRejectPrefix = "would-reject:"

  /// The ids of the rules that refused the request, or would have refused it in enforce mode, without repetitions.
  public var refusedRules: [String] {
    var rules: [String] = []
    if decision == .reject || decision == .wouldReject, let rule { rules.append(rule) }
    for finding in findings where finding.hasPrefix(DecisionRecord.wouldRejectPrefix) {
      let rule = String(finding.dropFirst(DecisionRecord.wouldRejectPrefix.count))
      if !rules.contains(rule) { rules.append(rule) }
    }
    return rules
  }
}
