import Foundation
import Reactor
import Synchronization
import Testing

@Suite("ProcessControl")
struct ProcessSettingsTests {
  /// The calling thread's `nice` value, the 19th field of its `stat` (proc(5)).
  private static func niceness() -> Int? {
    guard let stat = try? String(contentsOfFile: "/proc/thread-self/stat", encoding: .utf8) else { return nil }
    // The name before may contain any character, but ends with the last parenthesis.
    let fields = stat[(stat.lastIndex(of: ")") ?? stat.startIndex)...].split(separator: " ")
    return fields.count > 17 ? Int(fields[17]) : nil
  }

  @Test("A thread that lowers its priority does not change other threads")
  func lowerPriority() throws {
    let before = try #require(Self.niceness())
    let inside = Mutex<Int?>(nil)
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      ProcessControl.lowerPriority()
      inside.withLock { $0 = Self.niceness() }
      done.signal()
    }
    done.wait()
    #expect(inside.withLock { $0 } == 19)
    #expect(Self.niceness() == before)
  }
}
