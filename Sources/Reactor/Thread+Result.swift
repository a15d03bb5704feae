extension Thread {
  /// Runs `body`, which may block, on a short-lived thread of its own and waits for what it returns; the caller's loop
  /// goes on meanwhile.
  ///
  /// Throws when the process is out of threads.
  public static func run<Result: Sendable>(
    _ name: String, _ body: @escaping @Sendable () -> Result
  ) async throws(IOError) -> Result {
    let outcome: Swift.Result<Result, IOError> = await unsafe withUnsafeContinuation { continuation in
      do throws(IOError) {
        try start(name) { unsafe continuation.resume(returning: .success(body())) }
      } catch {
        unsafe continuation.resume(returning: .failure(error))
      }
    }
    return try outcome.get()
  }
}
