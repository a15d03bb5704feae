import Reactor
import Synchronization
import Telemetry

/// The decision log's thread and where it writes.
final class LogWriter: Sendable {
  let log: DecisionLog
  private let hasEnded = Atomic<Bool>(false)
  /// Milliseconds from a record to its line.
  private static let gathering = 10
  /// Milliseconds for the last lines.
  static let endTimeout = 5_000

  /// Where the option `--log` points.
  static func destination(_ option: String) -> LogFile.Destination {
    option == "-" ? .standardOutput : .file(option)
  }

  /// Throws when the process is out of descriptors.
  init(workers: Int, metrics: MetricsRegistry) throws(IOError) {
    log = DecisionLog(workers: workers, signal: Wake(descriptor: try ThreadSignal()), metrics: metrics) {
      Int64(Clock.realNanoseconds() / 1_000_000)
    }
  }

  /// Starts the thread `log`.
  ///
  /// Throws when the file cannot be opened or the process is out of threads.
  func start(_ destination: LogFile.Destination) throws(IOError) {
    let sink = Sink(file: try LogFile(destination))
    var failure: IOError?
    log.start(sink: sink) { body in
      do throws(IOError) {
        try Thread.start("log", body)
      } catch {
        failure = error
      }
    } onEnd: {
      self.hasEnded.store(true, ordering: .releasing)
    }
    if let failure { throw failure }
  }

  /// Has the thread write what there is and end, and waits for it, but not for ever: a reader may have stopped reading.
  func stop(_ clock: WaitClock) async {
    log.stop()
    let isWritten = await clock.wait(
      until: { hasEnded.load(ordering: .acquiring) }, atMost: LogWriter.endTimeout, step: 10)
    if !isWritten { Console.warn("the end of the decision log could not be written within 5 s") }
  }

  private struct Wake: WakeSignal {
    let descriptor: ThreadSignal

    func signal() { descriptor.signal() }

    func wait() {
      descriptor.wait()
      // What is judged in the next moment is written along with it: a write, and the switch between the threads that goes
      // with it, for each request would cost more than judging it. The rings hold what comes in several such moments. A
      // signal ends the moment: the file is to be opened anew, say, and what comes after that belongs into the new one.
      descriptor.pause(milliseconds: LogWriter.gathering)
    }
  }

  private struct Sink: LogSink {
    let file: LogFile

    mutating func write(_ bytes: [UInt8]) -> Bool { file.write(bytes) }
    mutating func reopen() { file.reopen() }
  }
}
