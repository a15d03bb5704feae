public import Reactor
internal import Synchronization

/// The requests of the admin thread for a reload, which the main thread carries out.
public final class ReloadRequests: Sendable {
  /// The number of requests that wait at a time. One reload answers all that came before it.
  static let limit = 16

  private struct State {
    var isOpen = true
    /// True if a request came since the main thread last asked.
    var hasNew = false
    var waiting: [AwaitedValue<ReloadReport?>] = []
    var listener: AwaitedValue<Bool>?
  }

  private let state = Mutex(State())

  init() {}

  /// Adds a request and wakes the main thread. Returns false if too many wait, or if the process ends.
  func add(_ request: AwaitedValue<ReloadReport?>) -> Bool {
    let (isAdded, listener) = state.withLock { state -> (Bool, AwaitedValue<Bool>?) in
      state.waiting.removeAll { $0.isAbandoned }
      guard state.isOpen, state.waiting.count < ReloadRequests.limit else { return (false, nil) }
      state.waiting.append(request)
      state.hasNew = state.listener == nil
      defer { state.listener = nil }
      return (true, state.listener)
    }
    listener?.deliver(true)
    return isAdded
  }

  /// Waits on the main thread for a request. Returns false once the process ends. One task at a time may wait.
  public func waitForRequest(on poller: Poller) async -> Bool {
    let listener = AwaitedValue<Bool>(on: poller)
    let known = state.withLock { state -> Bool? in
      if !state.isOpen { return false }
      if state.hasNew {
        state.hasNew = false
        return true
      }
      state.listener = listener
      return nil
    }
    if let known { return known }
    return await listener.wait(on: poller, until: .never) ?? false
  }

  /// Returns the requests that a reload which begins now will answer.
  public func take() -> [AwaitedValue<ReloadReport?>] {
    state.withLock { state in
      defer { state.waiting = [] }
      return state.waiting
    }
  }

  /// Answers all requests without a report, and accepts no more, because the process ends.
  public func close() {
    let (waiting, listener) = state.withLock { state in
      defer {
        state.waiting = []
        state.listener = nil
        state.isOpen = false
      }
      return (state.waiting, state.listener)
    }
    for request in waiting { request.deliver(nil) }
    listener?.deliver(false)
  }
}
