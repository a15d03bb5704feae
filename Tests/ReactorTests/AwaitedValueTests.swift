import Reactor
import Testing
import Time

@Suite("A value from another thread")
struct AwaitedValueTests {
  @Test("A value that is given before the wait or during it arrives", arguments: [0, 30])
  func arrives(milliseconds: Int) async throws {
    let arrived = try await OnWorker.run { worker -> Int? in
      let value = AwaitedValue<Int>(on: worker.poller)
      if milliseconds == 0 {
        value.deliver(7)
      } else {
        try OSThread.start("giver") { value.deliver(7) }
      }
      return await value.wait(on: worker.poller, until: worker.poller.patience)
    }
    #expect(arrived == 7)
  }

  @Test("A task whose deadline passes gets no value, and a later value is dropped")
  func deadline() async throws {
    try await OnWorker.run { worker in
      let value = AwaitedValue<Int>(on: worker.poller)
      #expect(!value.isAbandoned)
      #expect(await value.wait(on: worker.poller, until: worker.poller.deadline(after: 10)) == nil)
      #expect(value.isAbandoned)
      value.deliver(7)
      await worker.poller.pause(50)
    }
  }

  @Test("The poller of a worker is found on its thread, and on no other thread")
  func current() async throws {
    #expect(Poller.current == nil)
    try await OnWorker.run { worker in #expect(Poller.current === worker.poller) }
  }
}
