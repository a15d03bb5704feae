import ByteText
import Policy
import Reactor
import Synchronization
import Time

/// Writes messages to the operator on standard error, and the results of commands on standard output. Messages never go
/// to standard output, because the decision log may go there.
///
/// A text may contain texts of clients, logs and files, so each of its characters is visible (`String.visibleLines`), except
/// in a text that the caller has colored.
enum Console {
  /// Writes a message that is neither a warning nor an error.
  static func inform(_ text: String) {
    writeLine("proofgate: \(text)")
  }

  /// Writes a warning.
  static func warn(_ text: String) {
    writeColored("proofgate: \(colored("warning:", TerminalColor.yellow)) \(text.visibleLines)")
  }

  /// Writes an error message. The process continues.
  static func reportError(_ text: String) {
    writeColored("proofgate: \(colored("error:", TerminalColor.red)) \(text.visibleLines)")
  }

  /// Writes text to standard output. The text is not buffered, so that the reader of a pipe gets it immediately.
  static func writeOutput(_ text: String) { writeColoredOutput(text.visibleLines) }

  /// Writes text that may have colors to standard output.
  static func writeColoredOutput(_ text: String) { write(text, to: .standardOutput) }

  /// Writes a line to standard error without the prefix `proofgate:`, for example a diagnostic, which begins with a
  /// file name.
  static func writeLine(_ line: String) { writeColored(line.visibleLines) }

  /// Writes a line that may have colors to standard error.
  static func writeColored(_ line: String) {
    let line = isJSON.load(ordering: .acquiring) ? Notice.json(line, at: SystemClock.timestamp()) : line
    if isInBackground.load(ordering: .acquiring) {
      queue.append(line + "\n")
    } else {
      write(line + "\n", to: .standardError)
    }
  }

  /// Sets the form of all later messages.
  static func use(_ form: NoticeForm) {
    isJSON.store(form == .json, ordering: .releasing)
  }

  /// Makes all later messages go through a queue and a separate thread, so that a full pipe does not block the caller.
  static func writeInBackground() {
    isInBackground.store(true, ordering: .releasing)
  }

  /// Waits until all queued lines are written, for at most one second.
  static func flush(_ clock: WaitClock) async {
    _ = await clock.wait(until: { queue.isEmpty }, atMost: 1_000, step: 10)
  }

  private static func colored(_ word: String, _ color: String) -> String {
    TerminalColor.isUsedForErrors ? color + word + TerminalColor.reset : word
  }

  private static let isInBackground = Atomic<Bool>(false)
  private static let isJSON = Atomic<Bool>(false)
  private static let queue = ConsoleQueue { write($0, to: .standardError) }

  /// Returns the warning that lines were dropped, in the form of all messages.
  static func lossWarning(_ count: Int) -> String {
    let text = "proofgate: warning: \(count) lines were lost because standard error was not read"
    return isJSON.load(ordering: .acquiring) ? Notice.json(text, at: SystemClock.timestamp()) : text
  }

  private static func write(_ text: String, to destination: LogFile.Destination) {
    // An error is ignored, because there is no other place to report it.
    guard let file = try? LogFile(destination) else { return }
    _ = file.write(Array(text.utf8))
  }
}
