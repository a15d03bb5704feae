import Reactor
import Synchronization

/// Queues lines for a reader that may have stopped reading: a full pipe blocks its writer, and the main thread must
/// handle signals.
///
/// A thread writes the lines and ends when the queue is empty, so that a process without messages has no thread for
/// them.
final class ConsoleQueue: Sendable {
  private struct State {
    var lines: [String] = []
    var bytes = 0
    /// The number of lines that did not fit since the last write.
    var dropped = 0
    var isWriting = false
  }

  /// The longest queue, in bytes: enough for all errors of a large policy.
  static let limit = 1 << 20

  private let state = Mutex(State())
  private let write: @Sendable (String) -> Void

  /// - Parameter write: Writes one text; may block.
  init(_ write: @escaping @Sendable (String) -> Void) {
    self.write = write
  }

  /// True if every line was written.
  var isEmpty: Bool { state.withLock { !$0.isWriting && $0.lines.isEmpty && $0.dropped == 0 } }

  /// Queues a line, or drops and counts it if the queue is full.
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
      // The next line starts the thread again.
      state.withLock { $0.isWriting = false }
    }
  }

  private func writeAll() {
    while let text = next() { write(text) }
  }

  /// Returns the queued lines; `nil` if there are none and the thread ends.
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
