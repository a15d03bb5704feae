import Reactor
import Synchronization

/// A queue of lines that a separate thread writes. The main thread must not write them itself: if the reader of a pipe
/// stops reading, a write blocks, and the main thread could not handle signals.
///
/// The thread exists only while there are lines to write: it ends when the queue is empty.
final class ConsoleQueue: Sendable {
  private struct State {
    var lines: [String] = []
    var bytes = 0
    /// The number of lines that were dropped since the last write, because the queue was full.
    var dropped = 0
    var isWriting = false
  }

  /// The maximum length of all queued lines, in bytes: enough for all errors of a large policy.
  static let limit = 1 << 20

  private let state = Mutex(State())
  private let write: @Sendable (String) -> Void

  /// - Parameter write: Writes a text. It runs on the separate thread and may block.
  init(_ write: @escaping @Sendable (String) -> Void) {
    self.write = write
  }

  /// True if no line waits to be written and no write is in progress.
  var isEmpty: Bool { state.withLock { !$0.isWriting && $0.lines.isEmpty && $0.dropped == 0 } }

  /// Queues a line. If the queue is full, the line is dropped and counted.
  func append(_ line: String) {
    let needsThread = state.withLock { state in
      if state.bytes + line.utf8.count > ConsoleQueue.limit {
        state.dropped += 1
      } else {
        state.lines.append(line)
        state.bytes += line.utf8.count
      }
      defer { state.isWriting = true }
      return !state.isWriting
    }
    guard needsThread else { return }
    do throws(IOError) {
      try OSThread.start("console") { self.writeAll() }
    } catch {
      // The next call tries again to start the thread.
      state.withLock { $0.isWriting = false }
    }
  }

  private func writeAll() {
    while let text = takeAll() { write(text) }
  }

  /// Removes and returns all queued lines, with a warning if lines were dropped; `nil` if the queue is empty.
  private func takeAll() -> String? {
    state.withLock { state in
      guard !state.lines.isEmpty || state.dropped > 0 else {
        state.isWriting = false
        return nil
      }
      var text = state.lines.joined()
      if state.dropped > 0 {
        text += Console.lossWarning(state.dropped) + "\n"
      }
      state.lines = []
      state.bytes = 0
      state.dropped = 0
      return text
    }
  }
}
