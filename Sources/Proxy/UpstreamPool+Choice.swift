import Reactor
import TLS
import Time

/// The choice among several addresses, and the adoption of changed answers of names.
extension UpstreamPool {
  /// Adopts the current addresses. Connections to addresses that are gone are closed after their current request.
  @inline(never)
  func refreshTargets() {
    nextRefresh = servers.refreshInterval.map { poller.deadline(after: $0) } ?? .never
    let (addresses, version) = servers.refresh(now: poller.now)
    lookUpMissingNames()
    guard version != targetsVersion else { return }
    targetsVersion = version
    let old = targets
    targets = addresses.map { address in old.first { $0.address === address } ?? UpstreamTarget(address) }
    for target in old where !targets.contains(where: { $0 === target }) { target.isGone = true }
    for connection in idle where connection.target.isGone { discard(connection) }
  }

  /// Returns an idle connection to the address that suits the request; `nil` without one.
  @inline(never)
  func takeIdleOfSeveral(
    mayRepeat: Bool, mayUseReserved: Bool, _ preference: AddressPreference
  ) -> UpstreamConnection? {
    let target = choose(preference)
    while target.idle > 0, let index = idle.lastIndex(where: { $0.target === target }) {
      let connection = idle[index]
      if !mayRepeat, isIdleForTooLong(connection) { return nil }
      idle.remove(at: index)
      target.idle -= 1
      if let usable = use(connection, mayRepeat: mayRepeat, mayUseReserved: mayUseReserved) {
        nextChoice &+= 1
        return usable
      }
    }
    return nil
  }

  /// Returns the address for a request. The result changes only once a request has got a connection. Tests the addresses
  /// whose outage is over.
  func choose(_ preference: AddressPreference) -> UpstreamTarget {
    var best = targets[nextChoice % targets.count]
    var bestRank = rank(best, 0, preference)
    for step in 1..<targets.count {
      let index = (nextChoice + step) % targets.count
      let candidate = rank(targets[index], index, preference)
      if candidate < bestRank { (best, bestRank) = (targets[index], candidate) }
    }
    if bestRank.group > 0 || targets.contains(where: { $0.address.isOut }) { testAddresses() }
    return best
  }

  /// Returns the addresses in the order in which a connection for the request is tried.
  func order(_ preference: AddressPreference) -> [UpstreamTarget] {
    guard targets.count > 1 else { return targets }
    testAddresses()
    let rotated = targets.indices.map { ($0 + nextChoice) % targets.count }
    return rotated.map { (targets[$0], rank(targets[$0], $0, preference)) }
      .sorted { $0.1 < $1.1 }.map(\.0)
  }

  /// The suitability of an address; the lowest is best.
  struct Rank: Comparable {
    /// 0 in service, 1 out of service because of active checks alone, 2 because of failed requests or connections.
    let group: Int
    let value: UInt64

    static func < (a: Rank, b: Rank) -> Bool { a.group != b.group ? a.group < b.group : a.value < b.value }
  }

  private func rank(_ target: UpstreamTarget, _ index: Int, _ preference: AddressPreference) -> Rank {
    let address = target.address
    // If all are out of service, the one that failed first is the first to return.
    if address.hasOutage { return Rank(group: 2, value: address.returnTime) }
    // If all addresses fail their checks, for example because the path is wrong, requests go where they went before.
    let group = address.isOut ? 1 : 0
    switch preference {
    case .id(let id) where address.id == id: return Rank(group: group, value: 0)
    case .hash(let hash): return Rank(group: group, value: UpstreamPool.mix(hash ^ address.hash))
    case .id, .none:
      if settings.configuration.affinity == .first { return Rank(group: group, value: UInt64(clamping: 1 + index)) }
      return Rank(group: group, value: UInt64(clamping: 1 + target.outstanding))
    }
  }

  /// The finalizer of SplitMix64: each bit of the result depends on all bits of `value`.
  private static func mix(_ value: UInt64) -> UInt64 {
    var mixed = value
    mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
    return mixed ^ mixed >> 31
  }

  // MARK: Failures

  /// Counts a connection that could not be opened in time, and takes the address out of service.
  func noteConnectFailure(_ target: UpstreamTarget) {
    target.counters.countFailure()
    target.address.takeOut(now: poller.now, isOfConnect: true)
  }

  /// Counts a connection to which no complete response came: it ended first, or the time was over. A connection that
  /// was used before may have been closed by the server while it was idle, so its end says nothing.
  func noteLostRequest(_ connection: UpstreamConnection, isEnd: Bool) {
    if isEnd, connection.isReused { return }
    noteFailure(connection.target)
  }

  /// Counts a response, if its status counts as a failure. Any other response ends a series of failures.
  @inline(never)
  func noteStatus(_ status: Int, _ connection: UpstreamConnection) {
    if settings.configuration.failureStatuses.contains(status) {
      noteFailure(connection.target)
    } else if connection.target.address.hasFailures {
      connection.target.address.clearFailures()
    }
  }

  /// Several failures in succession take the address out of service, unless it is the last one in service: a server
  /// that answers with an error is better than none.
  private func noteFailure(_ target: UpstreamTarget) {
    target.counters.countFailure()
    guard target.address.addFailure() >= settings.configuration.failureLimit,
      servers.hasOther(than: target.address)
    else { return }
    target.address.takeOut(now: poller.now)
  }

  // MARK: Tests of addresses

  /// Tests the addresses whose outage is over with a connection, so that no request waits for an address that is still
  /// down. Only requests lead to tests: without traffic there are none.
  func testAddresses() {
    for target in targets
    where target.address.beginTest(now: poller.now, atMost: settings.configuration.connectTimeout) {
      poller.start(AddressTest(target, self))
    }
  }
}

/// A connection that tests an address after its outage. If it is established, the pool keeps it.
private final class AddressTest: Activity {
  private let target: UpstreamTarget
  private let pool: UpstreamPool

  init(_ target: UpstreamTarget, _ pool: UpstreamPool) {
    self.target = target
    self.pool = pool
  }

  func run() async {
    let waiter = Waiter(pool.poller)
    defer { waiter.cancelDeadline() }
    let epoch = pool.epoch
    let deadline = pool.poller.deadline(after: pool.settings.configuration.connectTimeout)
    let socket: Socket
    do throws(ConnectionTestFailure) {
      socket = try await pool.openTestConnection(to: target.address, with: waiter, until: deadline)
    } catch {
      return target.address.stayOut(now: pool.poller.now)
    }
    target.address.putBack(now: pool.poller.now)
    // The connection needs a place like any other.
    guard pool.takePlace(mayUseReserved: false) else { return socket.close() }
    pool.giveBack(pool.establish(socket, target, epoch: epoch))
  }
}
