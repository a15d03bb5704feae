import Synchronization

/// A value that another thread produces and a task of a worker awaits.
///
/// As with a `Waiter`, only the task is suspended: the event loop of the worker continues, and resumes the task itself.
/// No continuation is used: it would first resume the task on the runtime's global thread pool, whose threads this
/// program does not need otherwise.
public final class AwaitedValue<Value: Sendable>: Sendable {
  private enum State {
    /// The value was not delivered, and the task does not wait yet.
    case open
    case delivered(Value)
    case awaited(UnownedJob)
    /// The deadline passed before the value was delivered.
    case abandoned
  }

  private let state = Mutex(State.open)
  private let loop: EventLoop

  /// Creates a value for a task of the poller's worker.
  public init(on poller: Poller) {
    loop = poller.loop
  }

  /// True if the deadline of the task has passed, so that the value need not be produced.
  public var isAbandoned: Bool {
    state.withLock { state in
      if case .abandoned = state { return true } else { return false }
    }
  }

  /// Delivers the value. Called at most once, from any thread.
  public func deliver(_ value: Value) {
    let job = state.withLock { state -> UnownedJob? in
      switch state {
      case .open:
        state = .delivered(value)
        return nil
      case .awaited(let job):
        state = .delivered(value)
        return job
      case .delivered, .abandoned: return nil
      }
    }
    if let job { loop.queue(job) }
  }

  /// Waits for the value. Called once, on the worker.
  func wait(on poller: Poller) async -> Value {
    await suspend(on: poller, until: nil)
    guard let value = deliveredValue else { preconditionFailure("a task woke without its value") }
    return value
  }

  /// Waits for the value. Called once, on the worker. Returns `nil` if the deadline passes first.
  public func wait(on poller: Poller, until deadline: Deadline) async -> Value? {
    await suspend(on: poller, until: deadline)
    return deliveredValue
  }

  private var deliveredValue: Value? {
    state.withLock { state in
      if case .delivered(let value) = state { return value } else { return nil }
    }
  }

  /// Suspends the task until the value is delivered or the deadline passes.
  private func suspend(on poller: Poller, until deadline: Deadline?) async {
    let receiver = JobReceiver(self)
    if let deadline { poller.wheel.arm(receiver, at: deadline) }
    let request = loop.currentRequest
    unsafe poller.suspension.executor.host = Unmanaged.passUnretained(receiver)
    await poller.suspension.enter()
    loop.currentRequest = request
    // The wheel and the executor refer to the receiver without retaining it, so it must live until here.
    withExtendedLifetime(receiver) {
      if deadline != nil { poller.wheel.disarm(receiver) }
    }
  }

  /// Resumes `job` if the value has been delivered, otherwise stores it for `deliver` or the deadline.
  private func resumeOrStore(_ job: UnownedJob) {
    let isDelivered = state.withLock { state in
      if case .delivered = state { return true }
      state = .awaited(job)
      return false
    }
    if isDelivered { loop.resume(job) }
  }

  /// Resumes the waiting task without a value, because the deadline has passed.
  private func abandon() {
    let job = state.withLock { state -> UnownedJob? in
      guard case .awaited(let job) = state else { return nil }
      state = .abandoned
      return job
    }
    if let job { loop.resume(job) }
  }

  /// Receives the task's job and the end of the deadline.
  private final class JobReceiver: JobHost {
    private let awaited: AwaitedValue

    init(_ awaited: AwaitedValue) {
      self.awaited = awaited
    }

    override func receive(_ job: UnownedJob) {
      awaited.resumeOrStore(job)
    }

    override func expired() {
      awaited.abandon()
    }
  }
}
