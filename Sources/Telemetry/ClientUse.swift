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

  /// Creates the use of a client with its first request, which is not counted yet.
  init(isListed: Bool, _ record: DecisionRecord) {
    self.isListed = isListed
    network = record.network
    isProven = record.provesClient
    first = record.time
    last = record.time
  }

  /// Counts a request.
  ///
  /// - Parameter limit: The number of refusals that may be added to ``refusals``.
  mutating func add(_ record: DecisionRecord, upTo limit: Int) {
    requests += 1
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
