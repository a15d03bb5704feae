import Reactor
import Synchronization

/// Writes messages to the operator on standard error, and results of commands on standard output. Messages do not go to
/// standard output, which may also be the destination of the decision log.
enum Console {
  /// Writes a message.
  static func say(_ text: String) {
    write("proofgate: \(text)")
  }

  /// Writes a warning.
  static func warn(_ text: String) {
    write("proofgate: warning: \(text)")
  }

  /// Writes an error. The caller ends the process if necessary.
  static func fail(_ text: String) {
    write("proofgate: error: \(text)")
  }

  /// Writes text to standard output without buffering, so that the reader of a pipe gets it immediately.
  static func show(_ text: String) {
    write(text, to: .standardOutput)
  }

  /// Writes a line to standard error without the prefix `proofgate:`. Diagnostics begin with the file that they are
  /// about.
  static func write(_ line: String) {
    if isInBackground.load(ordering: .acquiring) {
      queue.append(line + "\n")
    } else {
      write(line + "\n", to: .standardError)
    }
  }

  /// From now on, lines for standard error are queued and a thread writes them, so that a full pipe never blocks the
  /// caller.
  static func writeInBackground() {
    isInBackground.store(true, ordering: .releasing)
  }

  /// Waits until all queued lines are written, for at most one second.
  static func flush(_ clock: WaitClock) async {
    _ = await clock.wait(until: { queue.isEmpty }, atMost: 1_000, step: 10)
  }

  private static let isInBackground = Atomic<Bool>(false)
  private static let queue = ConsoleQueue { write($0, to: .standardError) }

  private static func write(_ text: String, to destination: LogFile.Destination) {
    // If standard error cannot be written, there is no other place to report this.
    guard let file = try? LogFile(destination) else { return }
    _ = file.write(Array(text.utf8))
  }
}
