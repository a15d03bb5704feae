internal import Synchronization
internal import Time

/// The clients of the judged requests, over all workers. The number of clients is limited because each uses memory in
/// the gateway, and a series in the monitoring system.
///
/// Anyone can send requests with ids that the policy does not list. Such requests must not hide the clients that the
/// operator looks for:
///
/// - The clients of the policy have places of their own.
/// - So have the ids with a token request that the server has answered with 200. It refuses ids that it does not know.
/// - If all places of the other ids are taken, the network with the most ids loses the one with the fewest requests. So an
///   id from another network always gets a place.
final class ClientUses: Sendable {
  /// The maximum number of clients of the policy. They are the first that occur; all others share the label `other`.
  static let maximumListed = 1000
  /// The maximum number of ids that the policy does not list, but the server knows.
  static let maximumProven = 1000
  /// The maximum number of all other ids.
  static let maximumUnproven = 100
  /// The maximum number of pairs of a client and a rule. Each keeps a record, which has about a kilobyte, and anyone can
  /// send requests in the name of every client that many rules refuse.
  static let maximumRefusals = 10_000
  /// The label of a client that the policy does not list.
  static let unknown = "unknown"

  fileprivate struct State: Sendable {
    var clients: [String: ClientUse] = [:]
    var counts: [ClientUse.Standing: Int] = [:]
    var refusalCount = 0
    var omittedRequests: UInt64 = 0
  }

  private let state = Mutex(State())

  /// Counts a request and returns the label of its client: the id, `other` for a client of the policy beyond the maximum
  /// number, or `unknown` for an id that the policy does not list.
  func add(_ record: DecisionRecord, isListed: Bool) -> String {
    guard let client = record.client else { return ClientUses.unknown }
    let isCounted = state.withLock { $0.add(record, of: client, isListed: isListed) }
    guard isListed else { return ClientUses.unknown }
    return isCounted ? client : "other"
  }

  /// The clients by id, and the number of requests of further clients.
  var current: (clients: [String: ClientUse], omittedRequests: UInt64) {
    state.withLock { ($0.clients, $0.omittedRequests) }
  }
}

extension ClientUses.State {
  /// Counts a request. Returns false if there is no place for its client.
  fileprivate mutating func add(_ record: DecisionRecord, of client: String, isListed: Bool) -> Bool {
    let free = ClientUses.maximumRefusals - refusalCount
    if let added = clients[client]?.add(record, isListed: isListed, upTo: free) {
      refusalCount += added.refusals
      if added.before != added.after {
        counts[added.before, default: 0] -= 1
        counts[added.after, default: 0] += 1
      }
      return true
    }
    var use = ClientUse(isListed: isListed, record)
    guard makeRoom(for: use) else {
      omittedRequests += 1
      return false
    }
    use.add(record, upTo: free)
    refusalCount += use.refusals.count
    counts[use.standing, default: 0] += 1
    clients[client] = use
    return true
  }

  /// Returns true if there is a place for a new client, after the removal of another one if necessary.
  private mutating func makeRoom(for use: ClientUse) -> Bool {
    let count = counts[use.standing] ?? 0
    switch use.standing {
    case .listed: return count < ClientUses.maximumListed
    case .proven: return count < ClientUses.maximumProven
    case .unproven:
      if count >= ClientUses.maximumUnproven { removeLeast(forNetwork: use.network) }
      return true
    }
  }

  /// Removes the id with the fewest requests of the network that has the most ids, the oldest of several. The new id counts
  /// as one of its network.
  private mutating func removeLeast(forNetwork network: Substring) {
    let unproven = clients.filter { $0.value.standing == .unproven }
    var networks: [Substring: Int] = [network: 1]
    for use in unproven.values { networks[use.network, default: 0] += 1 }
    func rank(_ use: ClientUse) -> (Int, Int, Int64) {
      (-(networks[use.network] ?? 0), use.requests, use.last.milliseconds)
    }
    guard let least = unproven.min(by: { rank($0.value) < rank($1.value) }) else { return }
    omittedRequests += UInt64(clamping: least.value.requests)
    refusalCount -= least.value.refusals.count
    counts[.unproven, default: 0] -= 1
    clients[least.key] = nil
  }
}

extension ClientUse {
  /// The kind of place that a client has.
  fileprivate enum Standing: Hashable {
    /// The policy lists the client.
    case listed
    /// The policy does not list the id, but the server knows it.
    case proven
    /// Any other id.
    case unproven
  }

  fileprivate var standing: Standing { isListed ? .listed : isProven ? .proven : .unproven }

  /// Counts a request. Returns the number of new refusals, and the place of the client before and after the request.
  fileprivate mutating func add(
    _ record: DecisionRecord, isListed: Bool, upTo limit: Int
  ) -> (refusals: Int, before: Standing, after: Standing) {
    let (refusalCount, before) = (refusals.count, standing)
    if isListed, !self.isListed { restart(at: record.time) }
    self.isListed = isListed
    add(record, upTo: limit)
    return (refusals.count - refusalCount, before, standing)
  }
}
