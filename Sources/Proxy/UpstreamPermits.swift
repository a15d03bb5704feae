import Reactor
import Synchronization

/// The places for upstream connections, shared by all workers of a process (docs/adr/0036).
///
/// Theory of operation. A worker takes a place to open a connection, and gives it back when the connection is closed. A
/// request that finds no place waits in a queue of its worker, and the other workers are notified: they close idle
/// connections for it. While requests of other workers wait, a worker that has finished with a connection decides which
/// worker is next: its own waiting requests keep the connection, unless another worker has clearly fewer connections,
/// because a place that moves costs a new connection. So no place stays unused while a request waits for one.
///
/// A request that finds an idle connection takes no lock here. Each worker publishes the number of its connections in
/// use. The numbers of all workers are added only while so many connections are open that the reserved ones may be in
/// use.
public final class UpstreamPermits: Sendable {
  /// The numbers of one worker.
  private struct Account {
    /// The connections that are open or being established.
    var open = 0
    /// The passing requests that wait for a place.
    var waiting = 0
    /// The intercepted requests that wait for a place.
    var waitingReserved = 0
    /// Makes the worker examine the places, from any thread.
    let notify: @Sendable () -> Void
  }

  private struct State {
    var accounts: [Account] = []
    /// The open connections of all workers.
    var open = 0
    /// The worker that was chosen last. The search begins after it, so that workers with equal numbers take turns.
    var lastChosen = 0
  }

  /// The published numbers of one worker. Padded to two cache lines, so that workers do not slow each other down.
  fileprivate final class Published: Sendable {
    let inUse = Atomic<Int>(0)
    /// True from a notification until the worker examines the places, so that it is notified once.
    let isNotified = Atomic<Bool>(false)
    private let padding = InlineArray<14, Int>(repeating: 0)
  }

  private let state = Mutex(State())
  private let published: [Published]
  /// The number of open connections of all workers. Changes only with `state.open`; read without the lock.
  private let open = Atomic<Int>(0)
  /// The number of requests that wait for a place, of all workers.
  private let waiting = Atomic<Int>(0)

  /// Creates the places for `workers` workers, each of which joins once.
  public init(workers: Int) {
    published = (0..<workers).map { _ in Published() }
  }

  /// Returns the part of a worker. Called once for each worker.
  ///
  /// - Parameter notify: makes the worker call `UpstreamPool.examinePlaces`; called from any thread.
  func join(notify: @escaping @Sendable () -> Void) -> Member {
    let index = state.withLock { state in
      state.accounts.append(Account(notify: notify))
      return state.accounts.count - 1
    }
    precondition(index < published.count, "more workers than announced")
    return Member(self, index)
  }

  /// The part of one worker, used on this worker only.
  final class Member {
    private let permits: UpstreamPermits
    /// The position of the worker among those that share the places.
    let index: Int
    private let own: Published
    /// The requests of this worker that wait, which are a part of `permits.waiting`.
    private var ownWaiting = 0

    fileprivate init(_ permits: UpstreamPermits, _ index: Int) {
      self.permits = permits
      self.index = index
      own = permits.published[index]
    }

    /// The number of workers that share the places.
    var workers: Int { permits.published.count }

    /// Publishes the number of connections of this worker that are in use.
    func publish(inUse: Int) {
      own.inUse.store(inUse, ordering: .relaxed)
    }

    /// The number of open connections of all workers.
    var openOfAll: Int { permits.open.load(ordering: .relaxed) }

    /// The number of connections in use by all workers. Requests of other workers may change it at any time.
    var inUseOfAll: Int {
      permits.published.reduce(0) { $0 + $1.inUse.load(ordering: .relaxed) }
    }

    /// Takes a place if fewer than `limit` are taken and fewer than `limitInUse` connections are in use, and publishes
    /// the connection as in use.
    func takePlace(of limit: Int, limitInUse: Int) -> Bool {
      permits.state.withLock { state in
        guard state.open < limit, inUseOfAll < limitInUse else { return false }
        state.open += 1
        state.accounts[index].open += 1
        permits.open.store(state.open, ordering: .relaxed)
        own.inUse.wrappingAdd(1, ordering: .relaxed)
        return true
      }
    }

    /// Gives a place back.
    func returnPlace() {
      permits.state.withLock { state in
        state.open -= 1
        state.accounts[index].open -= 1
        permits.open.store(state.open, ordering: .relaxed)
      }
    }

    /// The number of free places.
    func freePlaces(of limit: Int) -> Int {
      permits.state.withLock { max(0, limit - $0.open) }
    }

    // MARK: Waiting requests

    /// Counts a request that begins to wait, and notifies the other workers, which may have idle connections.
    func beginWaiting(isReserved: Bool) {
      ownWaiting += 1
      let others = permits.state.withLock { state in
        if isReserved { state.accounts[index].waitingReserved += 1 } else { state.accounts[index].waiting += 1 }
        return notifications(in: state) { _ in true }
      }
      permits.waiting.add(1, ordering: .sequentiallyConsistent)
      for other in others { other.send() }
    }

    /// Notifies the other workers that have idle connections.
    func notifyIdleWorkers() {
      let idle = permits.state.withLock { state in
        notifications(in: state) { state.accounts[$0].open > permits.published[$0].inUse.load(ordering: .relaxed) }
      }
      for worker in idle { worker.send() }
    }

    /// Returns the notifications of the other workers whose position satisfies `isIncluded`.
    private func notifications(in state: State, where isIncluded: (Int) -> Bool) -> [Notification] {
      state.accounts.indices.filter { $0 != index && isIncluded($0) }
        .map { Notification(published: permits.published[$0], notify: state.accounts[$0].notify) }
    }

    /// Counts a request that no longer waits.
    func endWaiting(isReserved: Bool) {
      ownWaiting -= 1
      permits.waiting.subtract(1, ordering: .sequentiallyConsistent)
      permits.state.withLock { state in
        if isReserved { state.accounts[index].waitingReserved -= 1 } else { state.accounts[index].waiting -= 1 }
      }
    }

    /// True if requests of other workers wait.
    var othersWait: Bool { permits.waiting.load(ordering: .relaxed) > ownWaiting }

    /// The number of requests of other workers that wait.
    var waitingElsewhere: Int { max(0, permits.waiting.load(ordering: .relaxed) - ownWaiting) }

    /// Called before the worker examines the places. A later notification makes it examine them again.
    func acknowledge() {
      _ = own.isNotified.exchange(false, ordering: .sequentiallyConsistent)
    }

    /// Chooses the worker whose waiting request is next. Intercepted requests are before passing ones, and workers with
    /// fewer connections before others. Returns `nil` if it is this worker, or if no request waits.
    ///
    /// - Parameter hasConnection: true if this worker has a free connection. Another worker is then next only if it has
    ///   no connection, or at least two less than this worker; otherwise places would move with each request.
    func next(hasConnection: Bool) -> Notification? {
      permits.state.withLock { state in choose(&state, hasConnection: hasConnection) }
    }

    private func choose(_ state: inout State, hasConnection: Bool) -> Notification? {
      let accounts = state.accounts
      let isReserved = accounts.contains { $0.waitingReserved > 0 }
      func waits(_ account: Account) -> Bool { (isReserved ? account.waitingReserved : account.waiting) > 0 }
      var best: Int?
      for step in 1...accounts.count {
        let candidate = (state.lastChosen + step) % accounts.count
        guard waits(accounts[candidate]) else { continue }
        if let current = best, accounts[current].open <= accounts[candidate].open { continue }
        best = candidate
      }
      guard let best, best != index else {
        if best != nil { state.lastChosen = index }
        return nil
      }
      if hasConnection, waits(accounts[index]) {
        let (other, own) = (accounts[best].open, accounts[index].open)
        guard other < own, other == 0 || other + 1 < own else { return nil }
      }
      state.lastChosen = best
      return Notification(published: permits.published[best], notify: accounts[best].notify)
    }
  }

  /// The notification of a worker that it should examine the places.
  struct Notification {
    fileprivate let published: Published
    fileprivate let notify: @Sendable () -> Void

    /// Notifies the worker, unless an earlier notification has not been handled yet.
    func send() {
      if !published.isNotified.exchange(true, ordering: .sequentiallyConsistent) { notify() }
    }
  }
}
