import Synchronization

/// A value that one thread produces and a task of a worker awaits.
///
/// A continuation would first resume on the global pool, whose threads nothing else here needs.
final class Handover<Value: Sendable>: Sendable {
  private enum State {
    case open
    case given(Value)
    case awaited(UnownedJob)
  }

  private let state = Mutex(State.open)
  private let loop: EventLoop

  /// Creates a handover for a task of the worker that runs on `loop`.
  init(_ loop: EventLoop) {
    self.loop = loop
  }

  /// Delivers the value. Called once, from any thread.
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
    // The room hands the task's job to the seat during the hop, so the seat must live until here.
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
