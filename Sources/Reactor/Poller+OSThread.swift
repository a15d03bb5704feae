extension Poller {
  /// Runs `body`, which may block, on a short-lived thread and waits for its result; the loop continues meanwhile.
  ///
  /// Throws if the thread cannot be created.
  public func runOnThread<Result: Sendable>(
    _ name: String, _ body: @escaping @Sendable () -> Result
  ) async throws(IOError) -> Result {
    let value = AwaitedValue<Result>(on: self)
    try OSThread.start(name) { value.deliver(body()) }
    return await value.wait(on: self)
  }
}
