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

extension Poller {
  /// Waits so many milliseconds.
  public func pause(_ milliseconds: Int) async {
    let waiter = Waiter(self)
    _ = await waiter.sleep(until: deadline(after: milliseconds))
    waiter.retire()
  }
}
