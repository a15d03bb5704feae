internal import Reactor
internal import Synchronization
internal import Time

/// The operations that wait for the store's thread. Only that thread calls `takeAll` and `takeMore`; the other
/// functions may be called on any thread.
final class StoreQueue: Sendable {
  /// The maximum number of waiting operations. More would mean that the disk is too slow for the load. Twice as many may
  /// wait with those that end a claim after a failure (`StoreRequest.isForLater`).
  static let limit = 16_384

  private struct State {
    var requests: [StoreRequest] = []
    /// True while the store's thread waits for an operation.
    var isWaiting = false
    var isClosed = false
  }

  private let state = Mutex(State())
  private let signal: ThreadSignal

  /// Creates an empty queue. Throws if the process is out of descriptors.
  init() throws(IOError) {
    signal = try ThreadSignal()
  }

  /// Adds an operation. Returns false if there is no room, or if the store is closed. Never blocks.
  func add(_ request: StoreRequest) -> Bool {
    let (isAdded, mustWakeThread) = state.withLock { state in
      let limit = request.isForLater ? StoreQueue.limit * 2 : StoreQueue.limit
      guard !state.isClosed, state.requests.count < limit else { return (false, false) }
      state.requests.append(request)
      defer { state.isWaiting = false }
      return (true, state.isWaiting)
    }
    // Only the first operation that arrives while the thread sleeps needs a system call.
    if mustWakeThread { signal.signal() }
    return isAdded
  }

  /// Waits for operations and takes all of them; none if `time` has passed. Returns `nil` once the queue is closed and
  /// empty.
  func takeAll(within time: Milliseconds?) -> [StoreRequest]? {
    while true {
      let (requests, isClosed) = state.withLock { state in
        let requests = state.requests
        state.requests = []
        state.isWaiting = requests.isEmpty
        return (requests, state.isClosed)
      }
      if !requests.isEmpty { return requests }
      if isClosed { return nil }
      guard let time else {
        signal.wait()
        continue
      }
      guard signal.pause(atMost: time) else { return [] }
    }
  }

  /// Waits at most a millisecond for more operations, and takes those that have arrived.
  func takeMore() -> [StoreRequest] {
    signal.pause(atMost: 1)
    return state.withLock { state in
      defer { state.requests = [] }
      return state.requests
    }
  }

  /// Makes the thread finish the waiting operations and end.
  func close() {
    state.withLock { $0.isClosed = true }
    signal.signal()
  }
}
