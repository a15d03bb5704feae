extension Worker {
  /// Runs the loop on the calling thread with `main` as its first task, until `stop`.
  ///
  /// How a program without threads of its own begins: `main` starts on this thread, and nothing that it starts or waits
  /// for ever resumes on the global pool.
  public nonisolated func runHere(_ main: @escaping @Sendable (isolated Worker) async -> Void) {
    Task.immediate { await main(self) }
    runHere()
  }
}

extension Worker {
  /// True if a task that goes to the waiting room is handed to its host before the thread goes on: what every wait here
  /// relies on (`WaitingRoom`), and what the language does not promise.
  ///
  /// On the worker's own thread. Asked once at start, so that a runtime that does otherwise is noticed before any client.
  public func handsTasksOverAtOnce() -> Bool {
    handsTasksOverAtOnce { await $0.visit($1) }
  }

  func handsTasksOverAtOnce(
    _ hop: @escaping @Sendable (isolated Worker, HandoverProbe) async -> Void
  ) -> Bool {
    let probe = HandoverProbe()
    Task.immediate { await hop(self, probe) }
    guard let job = probe.job else { return false }
    loop.resume(job)
    return true
  }

  private func visit(_ probe: HandoverProbe) async {
    unsafe poller.room.door.host = Unmanaged.passUnretained(probe)
    await poller.room.enter()
  }
}

/// A host that keeps the first task that comes.
final class HandoverProbe: Host {
  private(set) var job: UnownedJob?

  override func receive(_ job: UnownedJob) { self.job = job }
}

extension Poller {
  /// Waits so many milliseconds.
  public func pause(_ milliseconds: Int) async {
    let waiter = Waiter(self)
    _ = await waiter.sleep(until: deadline(after: milliseconds))
    waiter.retire()
  }
}
