import Synchronization

/// A value that one thread produces and a task of a worker awaits.
///
/// No continuation is used: it would first resume the task on the runtime's global thread pool, whose threads this
/// program does not need otherwise.
final class CrossThreadValue<Value: Sendable>: Sendable {
  private enum State {
    case empty
    case given(Value)
    /// The task waits; this is its job.
    case awaited(UnownedJob)
  }

  private let state = Mutex(State.empty)
  private let loop: EventLoop

  /// Creates an empty value for a task of the worker that runs on `loop`.
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
  ///
  /// - Parameter room: the loop's `Suspension`.
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
    private let awaited: CrossThreadValue

    init(_ awaited: CrossThreadValue) {
      self.awaited = awaited
    }

    override func receive(_ job: UnownedJob) {
      awaited.resumeWhenGiven(job)
    }
  }
}
