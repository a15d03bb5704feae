import Reactor
import Synchronization

/// Messages to the operator, on standard error: standard output belongs to the decision log and to the result of a
/// command.
enum Console {
  static func say(_ text: String) {
    write("proofgate: \(text)")
  }

  static func warn(_ text: String) {
    write("proofgate: warning: \(text)")
  }

  static func fail(_ text: String) {
    write("proofgate: error: \(text)")
  }

  /// Writes text to standard output at once: the reader of a pipe does not have to wait until a buffer is full.
  static func show(_ text: String) {
    write(text, to: .standardOutput)
  }

  /// Writes a line that names its own source, as diagnostics do.
  static func write(_ line: String) {
    if isInBackground.load(ordering: .acquiring) {
      queue.append(line + "\n")
    } else {
      write(line + "\n", to: .standardError)
    }
  }

  /// Starts a thread that writes the lines to standard error, so that a full pipe never blocks the caller.
  static func writeInBackground() {
    isInBackground.store(true, ordering: .releasing)
  }

  /// Waits until the lines are written, for at most one second.
  static func flush(_ clock: WaitClock) async {
    _ = await clock.wait(until: { queue.isEmpty }, atMost: 1_000, step: 10)
  }

  private static let isInBackground = Atomic<Bool>(false)
  private static let queue = ConsoleQueue { write($0, to: .standardError) }

  private static func write(_ text: String, to destination: LogFile.Destination) {
    // If the reader is gone, the error cannot be reported.
    guard let file = try? LogFile(destination) else { return }
    _ = file.write(Array(text.utf8))
  }
}
