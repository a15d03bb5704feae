import Testing
import Time

@testable import Reactor

struct ThreadSignalTests {
  @Test("A signal ends one pause and no more, and does not end a later wait")
  func pause() throws {
    let signal = try ThreadSignal()
    signal.signal()
    signal.signal()
    #expect(signal.pause(atMost: 20_000))
    #expect(!signal.pause(atMost: 0))
  }

  @Test("A wait resets the signal, so the pause after it lasts until another signal")
  func wait() throws {
    let signal = try ThreadSignal()
    signal.signal()
    signal.wait()
    #expect(!signal.pause(atMost: 0))
    signal.signal()
    #expect(signal.pause(atMost: 20_000))
  }
}
