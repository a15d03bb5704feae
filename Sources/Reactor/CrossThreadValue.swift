import Synchronization

/// A value that one thread produces and a task of a worker awaits.
///
/// No continuation is used: it would first resume the task on the runtime's global thread pool, whose threads this
/// program does not need otherwise.
final class CrossThreadValue<Value: Sendable>: Sendable {
  private enum State {
    case empty
    case delivered(Value)
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
  func deliver(_ value: Value) {
    let job = state.withLock { state -> UnownedJob? in
      defer { state = .delivered(value) }
      if case .awaited(let job) = state { return job } else { return nil }
    }
    if let job { loop.queue(job) }
  }

  /// Waits for the value. Called once, on the loop.
  ///
  /// - Parameter suspension: the loop's `Suspension`.
  func wait(in suspension: Suspension) async -> Value {
    let receiver = JobReceiver(self)
    unsafe suspension.executor.host = Unmanaged.passUnretained(receiver)
    await suspension.enter()
    // The executor of `suspension` passes the task's job to the receiver, so the receiver must live until here.
    withExtendedLifetime(receiver) {}
    return state.withLock { state in
      guard case .delivered(let value) = state else { preconditionFailure("a task woke without its value") }
      return value
    }
  }

  /// Resumes `job` if the value has been delivered, otherwise stores the job for `deliver`.
  private func resumeOrStore(_ job: UnownedJob) {
    let isDelivered = state.withLock { state in
      if case .delivered = state { return true }
      state = .awaited(job)
      return false
    }
    if isDelivered { loop.resume(job) }
  }

  private final class JobReceiver: JobHost {
    private let value: CrossThreadValue

    init(_ value: CrossThreadValue) {
      self.value = value
    }

    override func receive(_ job: UnownedJob) {
      value.resumeOrStore(job)
    }
  }
}
