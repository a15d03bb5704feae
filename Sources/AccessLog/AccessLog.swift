public import Reactor
internal import Synchronization
public import Telemetry
public import Time

/// The access log of the process: one line for each request, or for a sample of them. It is off until `use` gives it a
/// destination, and then has one thread.
public final class AccessLog: Sendable {
  private struct State: Sendable {
    var writer: AccessLogWriter?
    var output: AccessLogOutput?
  }

  private let workers: Int
  private let metrics: MetricsRegistry
  private let notice: @Sendable (String) -> Void
  private let now: @Sendable () -> Timestamp
  private let state = Mutex(State())
  /// The maximum time for writing the last lines when the process ends.
  private static let endTimeout: Milliseconds = 5_000

  /// Creates a log without a destination.
  ///
  /// - Parameters:
  ///   - metrics: Counts dropped lines.
  ///   - now: Returns the current time.
  ///   - notice: Informs the operator that the log cannot be written. Called on the thread of the log, often.
  public init(
    workers: Int, metrics: MetricsRegistry, now: @escaping @Sendable () -> Timestamp = { SystemClock.timestamp() },
    notice: @escaping @Sendable (String) -> Void
  ) {
    self.workers = workers
    self.metrics = metrics
    self.now = now
    self.notice = notice
  }

  /// Uses a destination for all lines from now on; `nil` for none. An open destination that is the same stays open.
  ///
  /// Throws if the process cannot start the thread.
  public func use(_ output: AccessLogOutput?) throws(IOError) {
    let failure: IOError? = state.withLock { state in
      if let output, let current = state.output, output.isSame(as: current) { return nil }
      if let writer = state.writer {
        writer.request { $0.output = .some(output) }
      } else if let output {
        do throws(IOError) {
          state.writer = try AccessLogWriter(workers: workers, output: output, metrics: metrics, notice: notice)
        } catch {
          return error
        }
      }
      state.output = output
      return nil
    }
    if let failure { throw failure }
  }

  /// Returns the log of the worker with this index; `nil` if the log has no destination. Each worker uses only one
  /// channel at a time.
  public func channel(worker: Int, _ format: AccessLogFormat) -> AccessChannel? {
    state.withLock { state in
      guard let writer = state.writer, state.output != nil, writer.rings.indices.contains(worker) else { return nil }
      return AccessChannel(format, writer.rings[worker], writer, now: now)
    }
  }

  /// Makes the thread open the destination again, after it has written the lines that were appended before.
  public func reopen() {
    state.withLock { $0.writer }?.request { $0.reopens = true }
  }

  /// Makes the thread write the last lines and end. Waits for its end for at most five seconds, because the reader of
  /// the destination may have stopped reading. Returns false if this time was not enough.
  public func stop(_ clock: WaitClock) async -> Bool {
    guard let writer = state.withLock({ $0.writer }) else { return true }
    writer.request { $0.stops = true }
    return await clock.wait(until: { writer.isDone }, atMost: AccessLog.endTimeout, step: 10)
  }
}
