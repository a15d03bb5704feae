import ByteText
import Enforcement
import OAuth
import Policy

/// The decisions that change from one policy to another, for the requests of a decision log. Each change has the number of
/// requests that it concerns.
public struct LoggedDifference: Sendable, Encodable {
  /// Requests of one description whose decision changes in the same way.
  struct Change: Sendable, Encodable {
    let request: String
    var count: Int
    let before: String
    let after: String
  }

  /// A rule of the new policy that refuses requests which the old one does not refuse.
  struct Refusal: Sendable, Encodable {
    let rule: String
    var count: Int
  }

  /// The requests of one client.
  struct ClientRequests: Sendable, Encodable {
    /// The id; `nil` for all clients that neither policy lists.
    let client: String?
    /// The number of requests that were rebuilt.
    var requests = 0
    /// The number of those whose decision changes.
    var changed = 0
    var refusals: [Refusal] = []
    var changes: [Change] = []
  }

  /// A reason for which lines were not rebuilt.
  struct Gap: Sendable, Encodable {
    let reason: String
    let count: Int
  }

  /// The clients in alphabetical order, then the requests of all clients that neither policy lists.
  let clients: [ClientRequests]
  /// The number of requests that were rebuilt.
  let requests: Int
  /// The lines that were not rebuilt, the most frequent reason first.
  let notRebuilt: [Gap]

  /// The number of requests whose decision changes.
  public var changedCount: Int { clients.reduce(0) { $0 + $1.changed } }

  enum CodingKeys: String, CodingKey {
    case clients, requests
    case notRebuilt = "not_rebuilt"
  }

  /// The rules that refuse a client which the policy does not list.
  private static let unlistedRules = [Rejection.clientUnknown.ruleID, Rejection.clientNotKnownAtToken.ruleID]

  /// Compares two policies for the requests of a log.
  public init(_ logged: LoggedRequests, from old: Evaluator, to new: Evaluator) {
    var clients: [String: ClientRequests] = [:]
    var skipped = logged.skipped
    for kind in logged.kinds {
      let count = logged.counts[kind] ?? 0
      let id = ClientID(kind.client)
      let entries = [old.policy, new.policy].compactMap { $0.clients[id] }
      let rebuilt = RebuiltRequest(kind, registered: entries.flatMap(\.redirectURIs))
      guard let oldRequest = rebuilt.request(for: old.policy.upstream.endpoints),
        let newRequest = rebuilt.request(for: new.policy.upstream.endpoints)
      else {
        skipped["requests of an endpoint that a policy does not name", default: 0] += count
        continue
      }
      let (before, after) = (old.evaluate(oldRequest), new.evaluate(newRequest))
      // A rule can decide on something that is not in the log, for example on the content of a code. Neither policy then
      // refuses the rebuilt request by this rule. A client that the policy of the log did not list is not such a case.
      if let rule = kind.rule, !LoggedDifference.unlistedRules.contains(rule),
        ![before, after].contains(where: { $0.rejections.contains { $0.ruleID == rule } })
      {
        skipped["requests that `\(rule)` refused, which depends on facts that the log does not have", default: 0] +=
          count
        continue
      }
      let key = entries.isEmpty ? "" : kind.client
      clients[key, default: ClientRequests(client: entries.isEmpty ? nil : kind.client)]
        .add(rebuilt.label, count, before, after)
    }
    self.clients = clients.sorted { ($0.key.isEmpty ? 1 : 0, $0.key) < ($1.key.isEmpty ? 1 : 0, $1.key) }.map(\.value)
    requests = self.clients.reduce(0) { $0 + $1.requests }
    notRebuilt = skipped.map { Gap(reason: $0.key, count: $0.value) }
      .sorted { ($1.count, $0.reason) < ($0.count, $1.reason) }
  }
}

extension LoggedDifference.ClientRequests {
  fileprivate mutating func add(_ label: String, _ count: Int, _ before: Evaluation, _ after: Evaluation) {
    requests += count
    guard before.summary != after.summary else { return }
    changed += count
    if let index = changes.firstIndex(where: {
      $0.request == label && $0.before == before.summary && $0.after == after.summary
    }) {
      changes[index].count += count
    } else {
      changes.append(.init(request: label, count: count, before: before.summary, after: after.summary))
    }
    guard after.decision == .reject, before.decision != .reject, let rule = after.rejection?.ruleID else { return }
    if let index = refusals.firstIndex(where: { $0.rule == rule }) {
      refusals[index].count += count
    } else {
      refusals.append(.init(rule: rule, count: count))
    }
  }
}

extension LoggedDifference {
  /// The maximum number of changes of a client that the report shows.
  private static let maximumChanges = 20

  /// The report of `proofgate diff --log`.
  public var text: String {
    var text = ""
    for client in clients where client.changed > 0 {
      let name = client.client.map { "client \($0.visible)" } ?? "clients that are not listed"
      text += "\(name): \(client.changed) of \(client.requests) requests in the log change\n"
      for refusal in client.refusals.sorted(by: { ($1.count, $0.rule) < ($0.count, $1.rule) }) {
        text += "  \(refusal.count) of \(client.requests) requests would be refused by \(refusal.rule)\n"
      }
      let changes = client.changes.sorted { ($1.count, $0.request) < ($0.count, $1.request) }
      for change in changes.prefix(LoggedDifference.maximumChanges) {
        text +=
          "  \(change.count) x \(change.request.visible)\n    \(change.before) -> \(change.after)\n"
      }
      let rest = changes.count - LoggedDifference.maximumChanges
      if rest > 0 { text += "  and \(rest) further kinds of requests; `--json` shows all\n" }
    }
    text += "\(changedCount) of \(requests) requests in the log change\n"
    for gap in notRebuilt { text += "not compared: \(gap.count) \(gap.reason.visible)\n" }
    return text
  }
}
