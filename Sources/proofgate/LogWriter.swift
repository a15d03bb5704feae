import Reactor
import Synchronization
import Telemetry
import Time

/// Runs the thread that writes the decision log to its destination.
final class LogWriter: Sendable {
  let log: DecisionLog
  /// True after the thread has written the last records.
  private let hasEnded = Atomic<Bool>(false)
  /// The time for which records are collected before they are written together.
  private static let batchTime: Milliseconds = 10
  /// The maximum time for writing the last lines when the process ends.
  static let endTimeout: Milliseconds = 5_000

  /// Returns the destination for a value of the option `--log`.
  static func destination(_ option: String) -> LogFile.Destination {
    option == "-" ? .standardOutput : .file(option)
  }

  /// Creates the log without starting its thread. Throws if the process has no file descriptor left.
  init(workers: Int, metrics: MetricsRegistry) throws(IOError) {
    log = DecisionLog(workers: workers, signal: LogSignal(threadSignal: try ThreadSignal()), metrics: metrics) {
      SystemClock.timestamp()
    }
  }

  /// Opens the destination and starts the thread `log`.
  ///
  /// Throws if the file cannot be opened or the process cannot start a thread.
  ///
  /// - Parameter spool: The file in which lines wait while the destination does not accept them; `nil` for none.
  func start(_ destination: LogFile.Destination, spool: sending SpoolFile? = nil) throws(IOError) {
    let sink = Sink(file: try LogFile(destination), spool: spool)
    var failure: IOError?
    log.start(sink: sink) { body in
      do throws(IOError) {
        try OSThread.start("log", body)
      } catch {
        failure = error
      }
    } onEnd: {
      self.hasEnded.store(true, ordering: .releasing)
    }
    if let failure { throw failure }
  }

  /// Makes the thread write the queued records and end. Waits for its end for at most ``endTimeout``, because the
  /// reader of the log may have stopped reading.
  func stop(_ clock: WaitClock) async {
    log.stop()
    let isWritten = await clock.wait(
      until: { hasEnded.load(ordering: .acquiring) }, atMost: LogWriter.endTimeout, step: 10)
    if !isWritten { Console.warn("the end of the decision log could not be written within 5 s") }
  }

  private struct LogSignal: WakeSignal {
    let threadSignal: ThreadSignal

    func signal() { threadSignal.signal() }

    func wait(atMost time: Milliseconds) {
      if threadSignal.pause(atMost: time) { threadSignal.pause(atMost: LogWriter.batchTime) }
    }

    func wait() {
      threadSignal.wait()
      // Wait 10 ms for more records, which are then written together: one write and one thread switch for each request
      // would cost more than the decision. The buffers of the workers have room for the records of several such
      // periods. A signal in this time ends the pause. For example, a request to reopen the file must not wait, because
      // later records belong in the new file. `pause` also resets the signal that ends it. Without this reset, the next
      // `wait` would return at once although there is no record, the next record would end the pause after that `wait`,
      // and from then on each record would be written on its own.
      threadSignal.pause(atMost: LogWriter.batchTime)
    }
  }

  private struct Sink: LogSink {
    let file: LogFile
    let spool: SpoolFile?

    /// The time that the destination has to accept lines before they go to the spool.
    private static let patience: Milliseconds = 50
    /// The number of bytes that are taken from the spool at a time.
    private static let piece = 64 * 1024
    /// The number of such pieces after which the writer takes new lines from the workers.
    private static let piecesPerTurn = 64

    var hasBacklog: Bool { spool.map { !$0.isEmpty } ?? false }

    mutating func write(_ bytes: [UInt8]) -> Bool {
      guard let spool else { return file.write(bytes) }
      deliver(within: 0)
      // Lines that wait in the spool are older.
      let written = spool.isEmpty ? file.writeReady(bytes[...], within: Sink.patience) : 0
      return written == bytes.count || spool.append(bytes[written...])
    }

    mutating func retry() { deliver(within: Sink.patience) }

    private func deliver(within time: Milliseconds) {
      guard let spool else { return }
      for _ in 0..<Sink.piecesPerTurn where !spool.isEmpty {
        let bytes = spool.first(Sink.piece)
        let written = file.writeReady(bytes[...], within: time)
        spool.removeFirst(written)
        guard written == bytes.count, !bytes.isEmpty else { return }
      }
    }

    mutating func reopen() { file.reopen() }
  }
}
