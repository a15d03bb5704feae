import Reactor
import Synchronization

/// Lines for a reader that may have stopped reading: a pipe that is full blocks its writer, and the main thread handles
/// signals.
///
/// A thread writes the lines and ends when there are none, so that a process without anything to say has no thread for it.
final class ConsoleQueue: Sendable {
  private struct State {
    var lines: [String] = []
    var bytes = 0
    /// Lines that did not fit since the last one that was written.
    var dropped = 0
    var isWriting = false
  }

  /// Bytes that wait: all that is wrong with a large policy.
  static let limit = 1 << 20

  private let state = Mutex(State())
  private let write: @Sendable (String) -> Void

  /// - Parameter write: may block.
  init(_ write: @escaping @Sendable (String) -> Void) {
    self.write = write
  }

  /// True if every line was written.
  var isEmpty: Bool { state.withLock { !$0.isWriting && $0.lines.isEmpty && $0.dropped == 0 } }

  /// Takes a line, or drops and counts it if too much waits already.
  func append(_ line: String) {
    let starts = state.withLock { state in
      if state.bytes + line.utf8.count > ConsoleQueue.limit {
        state.dropped += 1
      } else {
        state.lines.append(line)
        state.bytes += line.utf8.count
      }
      defer { state.isWriting = true }
      return !state.isWriting
    }
    guard starts else { return }
    do throws(IOError) {
      try Thread.start("console") { self.writeAll() }
    } catch {
      // The next line tries again.
      state.withLock { $0.isWriting = false }
    }
  }

  private func writeAll() {
    while let text = next() { write(text) }
  }

  /// The lines that wait; `nil` when there are none and the thread ends.
  private func next() -> String? {
    state.withLock { state in
      guard !state.lines.isEmpty || state.dropped > 0 else {
        state.isWriting = false
        return nil
      }
      var text = state.lines.joined()
      if state.dropped > 0 {
        text += "proofgate: warning: \(state.dropped) lines were lost because standard error was not read\n"
      }
      state.lines = []
      state.bytes = 0
      state.dropped = 0
      return text
    }
  }
}
