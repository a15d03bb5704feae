internal import Reactor
internal import Stores
internal import Synchronization
internal import Time

/// The result of the latest count of the entries on the server, and the requests for it. Shared by the worker that
/// counts (`RedisCounter`) and the threads that show the figures.
final class RedisCount: Sendable {
  private struct Shared {
    var usage: [StoreUsage] = []
    /// The end of the latest complete count.
    var counted: MonotonicTime?
    /// The reason why the latest count failed; `nil` if it was complete.
    var problem: String?
    /// The time of the latest request for figures.
    var requested: MonotonicTime?
    /// A request before this time does not begin a count.
    var due: MonotonicTime = 0
    /// True from the request that begins a count until the count begins.
    var isRequested = false
    var isCounting = false
    /// Wakes the counter while it waits for a request. The delivered `true` has no meaning.
    var waiting: AwaitedValue<Bool>?

    /// Returns the waiting counter, which the caller has to wake.
    mutating func takeWaiting() -> AwaitedValue<Bool>? {
      defer { waiting = nil }
      return waiting
    }
  }

  private let shared = Mutex(Shared())

  /// The figures of the latest complete count; empty before the first one.
  var usage: [StoreUsage] { shared.withLock { $0.usage } }

  /// Returns the age of the figures and the problem of the latest count.
  func state(now: MonotonicTime) -> StoreCount {
    shared.withLock { shared in
      // The count may have ended on another thread since the caller read the clock.
      let age = shared.counted.map { now > $0 ? now - $0 : 0 }
      return StoreCount(age: age, problem: shared.problem)
    }
  }

  /// Records that the figures are wanted, and begins a count if one is due.
  func request(now: MonotonicTime) {
    let counter = shared.withLock { shared -> AwaitedValue<Bool>? in
      shared.requested = now
      guard !shared.isCounting, now >= shared.due else { return nil }
      shared.isRequested = true
      return shared.takeWaiting()
    }
    counter?.deliver(true)
  }

  // MARK: Functions for RedisCounter

  /// Waits for a request that begins a count, or for `wake`.
  func waitForRequest(on poller: Poller) async {
    let request = AwaitedValue<Bool>(on: poller)
    let waits = shared.withLock { shared in
      shared.isCounting = false
      if !shared.isRequested { shared.waiting = request }
      return !shared.isRequested
    }
    if waits { _ = await request.wait(on: poller, until: .never) }
    shared.withLock { shared in
      shared.isRequested = false
      shared.isCounting = true
    }
  }

  /// Ends the wait of the counter.
  func wake() {
    let counter = shared.withLock { $0.takeWaiting() }
    counter?.deliver(true)
  }

  /// Returns true if the figures were requested recently.
  func isWanted(now: MonotonicTime) -> Bool {
    shared.withLock { shared in shared.requested.map { now < $0 + RedisLimits.countRequestLifetime } ?? false }
  }

  /// Records the figures of a complete count.
  func finished(_ usage: [StoreUsage], now: MonotonicTime) {
    shared.withLock { shared in
      shared.usage = usage
      shared.counted = now
      shared.problem = nil
      shared.due = now + RedisLimits.countInterval
    }
  }

  /// Records that a count failed. Earlier figures remain, with their age.
  func failed(_ problem: String, now: MonotonicTime) {
    shared.withLock { shared in
      shared.problem = problem
      shared.due = now + RedisLimits.countInterval
    }
  }
}
