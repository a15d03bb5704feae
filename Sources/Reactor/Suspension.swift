/// The actor on which the tasks of one loop wait. Its executor runs no jobs.
///
/// Theory of operation. A task that waits calls `enter`, so the runtime enqueues the task's job on the executor of this
/// actor (`SuspensionExecutor`). The executor passes the job to the host, an object such as the `Waiter` of the task.
/// The host keeps the job until the awaited event has happened. Then it queues the job on the loop, which runs it as a
/// job of the worker, so the switch back to the worker costs nothing. A continuation would have the same effect. But it
/// would cost four locks, an entry in the task's status records and 2,000 more instructions per proxied request,
/// because the runtime looks up the executor of the resumed task three times (docs/adr/0007).
///
/// This is sound because this actor and the loop share one thread: their code never runs at the same time. The actor
/// owns no state that a task could touch.
actor Suspension {
  nonisolated let executor: SuspensionExecutor

  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

  init(_ loop: EventLoop) {
    executor = SuspensionExecutor(loop)
  }

  /// Suspends the calling task until its host queues its job.
  ///
  /// Not inlined and not empty: the compiler would remove a switch to the actor around an empty body.
  @inline(never)
  func enter() {
    _ = entered
  }

  private var entered: Bool { executor.isCurrent }
}

/// The executor of a `Suspension`: passes the job of each arriving task to its host.
@safe final class SuspensionExecutor: SerialExecutor {
  private let loop: EventLoop
  /// The host of the next task. Set immediately before the task calls `Suspension.enter`, on the loop's thread, and
  /// used only there.
  nonisolated(unsafe) var host: Unmanaged<JobHost>?

  init(_ loop: EventLoop) {
    self.loop = loop
    unsafe host = nil
  }

  var isCurrent: Bool { loop.isCurrent }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    guard isCurrent, let host = unsafe host else { preconditionFailure("a task waits outside of its worker's thread") }
    unsafe self.host = nil
    unsafe host._withUnsafeGuaranteedRef { $0.receive(job) }
  }

  func checkIsolated() {
    precondition(isCurrent, "called from outside the worker's thread")
  }

  func isIsolatingCurrentContext() -> Bool? { isCurrent }
}

/// An object that keeps the job of a waiting task, and queues it when the wait is over.
@safe public class JobHost: TimerEntry {
  func receive(_ job: UnownedJob) {
    preconditionFailure("a subclass of JobHost must override `receive`")
  }
}
