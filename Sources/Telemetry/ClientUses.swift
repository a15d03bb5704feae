internal import Synchronization

/// The clients of the judged requests, over all workers. The number of clients is limited because each uses memory in
/// the gateway, and a series in the monitoring system.
final class ClientUses: Sendable {
  /// The maximum number of clients of the policy. They are the first that occur; all others share the label `other`.
  static let maximumListed = 1000
  /// The maximum number of ids that the policy does not list. Anyone can send such ids, so they have a limit of their
  /// own, and take no room from the clients of the policy.
  static let maximumUnlisted = 100
  /// The maximum number of pairs of a client and a rule. Each keeps a record, which has about a kilobyte, and anyone can
  /// send requests in the name of every client that many rules refuse.
  static let maximumRefusals = 10_000
  /// The label of a client that the policy does not list.
  static let unknown = "unknown"

  private struct State: Sendable {
    var clients: [String: ClientUse] = [:]
    var unlistedCount = 0
    var refusalCount = 0
    var omittedRequests: UInt64 = 0
  }

  private let state = Mutex(State())

  /// Counts a request and returns the label of its client: the id, `other` for a client of the policy beyond the maximum
  /// number, or `unknown` for an id that the policy does not list.
  func add(_ record: DecisionRecord, isListed: Bool) -> String {
    guard let client = record.client else { return ClientUses.unknown }
    let isCounted = state.withLock { state in
      let free = ClientUses.maximumRefusals - state.refusalCount
      if let added = state.clients[client]?.add(record, isListed: isListed, upTo: free) {
        state.refusalCount += added.refusals
        state.unlistedCount += added.unlisted
        return true
      }
      let hasRoom =
        isListed
        ? state.clients.count - state.unlistedCount < ClientUses.maximumListed
        : state.unlistedCount < ClientUses.maximumUnlisted
      guard hasRoom else {
        state.omittedRequests += 1
        return false
      }
      var use = ClientUse(isListed: isListed, time: record.time)
      use.add(record, upTo: free)
      state.refusalCount += use.refusals.count
      if !isListed { state.unlistedCount += 1 }
      state.clients[client] = use
      return true
    }
    guard isListed else { return ClientUses.unknown }
    return isCounted ? client : "other"
  }

  /// The clients by id, and the number of requests of further clients.
  var current: (clients: [String: ClientUse], omittedRequests: UInt64) {
    state.withLock { ($0.clients, $0.omittedRequests) }
  }
}

extension ClientUse {
  /// Counts a request. Returns the numbers by which it changed the table.
  fileprivate mutating func add(
    _ record: DecisionRecord, isListed: Bool, upTo limit: Int
  ) -> (refusals: Int, unlisted: Int) {
    let (refusalCount, wasListed) = (refusals.count, self.isListed)
    self.isListed = isListed
    add(record, upTo: limit)
    return (refusals.count - refusalCount, (isListed ? 0 : 1) - (wasListed ? 0 : 1))
  }
}
