import Synchronization

/// A value that one thread produces and a task of a worker awaits.
///
/// With a continuation, the task would first resume on the runtime's global thread pool, whose threads nothing else
/// here needs.
final class CrossThreadValue<Value: Sendable>: Sendable {
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
  func take(_ room: Suspension) async -> Value {
    let receiver = JobReceiver(self)
    unsafe room.door.host = Unmanaged.passUnretained(receiver)
    await room.enter()
    // `room` passes the task's job to the receiver while the task is suspended, so the receiver must live until here.
    withExtendedLifetime(receiver) {}
    return state.withLock { state in
      guard case .given(let value) = state else { preconditionFailure("a task woke without what it waited for") }
      return value
    }
  }

  /// Resumes `job` if the value was given, otherwise stores it for `give`.
  private func resumeWhenGiven(_ job: UnownedJob) {
    let isGiven = state.withLock { state in
      if case .given = state { return true }
      state = .awaited(job)
      return false
    }
    if isGiven { loop.resume(job) }
  }

  private final class JobReceiver: JobHost {
    private let handover: CrossThreadValue

    init(_ handover: CrossThreadValue) {
      self.handover = handover
    }

    override func receive(_ job: UnownedJob) {
      handover.resumeWhenGiven(job)
    }
  }
}
