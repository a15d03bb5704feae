import Synchronization

/// A value that one thread makes and a task of a worker waits for.
///
/// A continuation would resume on the global pool first, whose threads nothing else here needs.
final class Handover<Value: Sendable>: Sendable {
  private enum State {
    case open
    case given(Value)
    case awaited(UnownedJob)
  }

  private let state = Mutex(State.open)
  private let loop: EventLoop

  /// For a task of the worker whose loop this is.
  init(_ loop: EventLoop) {
    self.loop = loop
  }

  /// Gives the value, once, from any thread.
  func give(_ value: Value) {
    let job = state.withLock { state -> UnownedJob? in
      defer { state = .given(value) }
      if case .awaited(let job) = state { return job } else { return nil }
    }
    if let job { loop.queue(job) }
  }

  /// Waits for the value. Called once, on the loop.
  func take(_ room: WaitingRoom) async -> Value {
    let seat = Seat(self)
    unsafe room.door.host = Unmanaged.passUnretained(seat)
    await room.enter()
    // It receives the task at the hop.
    withExtendedLifetime(seat) {}
    return state.withLock { state in
      guard case .given(let value) = state else { preconditionFailure("a task woke without what it waited for") }
      return value
    }
  }

  private func keep(_ job: UnownedJob) {
    let isGiven = state.withLock { state in
      if case .given = state { return true }
      state = .awaited(job)
      return false
    }
    if isGiven { loop.resume(job) }
  }

  private final class Seat: Host {
    private let handover: Handover

    init(_ handover: Handover) {
      self.handover = handover
    }

    override func receive(_ job: UnownedJob) {
      handover.keep(job)
    }
  }
}
