import Time

extension Worker {
  /// Runs the loop on the calling thread with `main` as its first task, until `stop`.
  ///
  /// For a program that starts no threads: `main`, and all tasks that it starts on this worker, run on this thread and
  /// never resume on the runtime's global thread pool.
  public nonisolated func runOnCurrentThread(_ main: @escaping @Sendable (isolated Worker) async -> Void) {
    Task.immediate { await main(self) }
    runOnCurrentThread()
  }
}

extension Worker {
  /// Returns true if the runtime enqueues the job of a task as soon as the task calls `Suspension.enter`, so that the
  /// host has the job before the code that started or resumed the task continues. Every wait relies on this order, and
  /// the language does not guarantee it.
  ///
  /// Called on the worker's own thread, once at start, so that a runtime that behaves differently is detected before
  /// the first client.
  public func runtimeEnqueuesJobsSynchronously() -> Bool {
    runtimeEnqueuesJobsSynchronously { await $0.enterSuspension(with: $1) }
  }

  /// Performs the check with `hop`, the call with which the task leaves the worker. Tests pass a call of an actor whose
  /// executor does not pass the job to the probe, for which the result is false.
  func runtimeEnqueuesJobsSynchronously(
    _ hop: @escaping @Sendable (isolated Worker, EnqueueProbe) async -> Void
  ) -> Bool {
    let probe = EnqueueProbe()
    Task.immediate { await hop(self, probe) }
    guard let job = probe.job else { return false }
    loop.resume(job)
    return true
  }

  /// Suspends the calling task with the probe as its host.
  private func enterSuspension(with probe: EnqueueProbe) async {
    unsafe poller.suspension.executor.host = Unmanaged.passUnretained(probe)
    await poller.suspension.enter()
  }
}

/// A host that keeps the job that it receives, so that `runtimeEnqueuesJobsSynchronously` can check that there is one.
final class EnqueueProbe: JobHost {
  private(set) var job: UnownedJob?

  override func receive(_ job: UnownedJob) { self.job = job }
}

extension Poller {
  /// Suspends the calling task for this time.
  public func pause(_ time: Milliseconds) async {
    let waiter = Waiter(self)
    _ = await waiter.sleep(until: deadline(after: time))
    waiter.cancelDeadline()
  }
}
