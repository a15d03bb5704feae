public import Reactor

extension OSThread {
  /// Runs `body`, which may block, on a thread of its own, for tests that run on no worker.
  public static func run<Result: Sendable>(
    _ name: String, _ body: @escaping @Sendable () -> Result
  ) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
      do {
        try start(name) { continuation.resume(returning: body()) }
      } catch {
        continuation.resume(throwing: error)
      }
    }
  }
}
