/// Where the tasks of one loop wait: an executor that runs nothing.
///
/// Theory of operation. A task that hops here is handed over as a job. The job is kept by whoever it came to see, until
/// what the task waits for has happened; then it is queued on the loop, which runs it as the worker's own, so the hop
/// back costs nothing. A continuation would do the same for four locks, an entry in the task's status records and 2,000
/// instructions more for each proxied request, because the runtime looks up the executor to resume on three times
/// (docs/adr/0007).
///
/// It is sound because room and loop share one thread: code of the worker cannot run at the same time as code of the room,
/// which owns no state that a task could touch.
actor WaitingRoom {
  nonisolated let door: Door

  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe door.asUnownedSerialExecutor() }

  init(_ loop: EventLoop) {
    door = Door(loop)
  }

  /// Suspends the calling task until the visitor's host queues its job.
  ///
  /// Not inlined and not empty: a hop between which nothing happens would be optimised away.
  @inline(never)
  func enter() {
    _ = entered
  }

  private var entered: Bool { door.isCurrent }
}

/// The executor of a waiting room: hands each task that comes to its host.
@safe final class Door: SerialExecutor {
  private let loop: EventLoop
  /// Whom the next task comes to see. Set right before it hops here, on the loop's thread, and only used there.
  nonisolated(unsafe) var host: Unmanaged<Host>?

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

/// Whom a waiting task came to see: keeps its job and queues it when the wait is over.
@safe public class Host: TimerEntry {
  func receive(_ job: UnownedJob) {
    preconditionFailure("a host must say what becomes of its visitor")
  }
}
