import Synchronization
import Telemetry

/// A sink that keeps all text, refuses on demand, and writes half of a text that it refuses.
final class FakeSink: LogSink, Sendable {
  private struct State: Sendable {
    var text = ""
    var refuses = false
    var writes = 0
    var reopened = 0
    var ended = 0
  }

  private let state = Mutex(State())

  var text: String { state.withLock { $0.text } }
  var lines: [Substring] { text.split(separator: "\n") }
  var writes: Int { state.withLock { $0.writes } }
  var reopened: Int { state.withLock { $0.reopened } }

  var ended: Int { state.withLock { $0.ended } }

  func end() { state.withLock { $0.ended += 1 } }
  func setRefuses(_ refuses: Bool) { state.withLock { $0.refuses = refuses } }

  func write(_ bytes: [UInt8]) -> Bool {
    state.withLock { state in
      state.writes += 1
      let taken = state.refuses ? bytes.prefix(bytes.count / 2) : bytes[...]
      state.text += String(decoding: taken, as: UTF8.self)
      return !state.refuses
    }
  }

  func reopen() { state.withLock { $0.reopened += 1 } }
}

/// A signal whose wait runs on the test's own thread: each wait runs the next step of a script, so no thread sleeps.
final class ScriptedSignal: WakeSignal, Sendable {
  private struct State: Sendable {
    var signals = 0
    var steps: [@Sendable () -> Void] = []
    var overrun: @Sendable () -> Void = {}
  }

  private let state = Mutex(State())

  var signals: Int { state.withLock { $0.signals } }

  func script(_ steps: [@Sendable () -> Void], atEnd: @escaping @Sendable () -> Void) {
    state.withLock {
      $0.steps = steps
      $0.overrun = atEnd
    }
  }

  func signal() { state.withLock { $0.signals += 1 } }

  func wait() {
    let step = state.withLock { $0.steps.isEmpty ? $0.overrun : $0.steps.removeFirst() }
    step()
  }
}
