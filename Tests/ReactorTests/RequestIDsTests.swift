import Testing
import Time

@testable import Reactor

@Suite("The request on which a thread works")
struct RequestIDsTests {
  @Test("After each wait a thread works on the request of the resumed task, and on none in a task without a request")
  func waits() async throws {
    try await OnWorker.run { worker in
      let poller = worker.poller
      let ids = RequestIDs(RequestIDs.Key(), space: 3)
      poller.identifyRequests(by: ids)
      let waiters = (0..<6).map { _ in Waiter(poller) }
      let others = Waiter(poller)
      var seen = [[String]](repeating: [], count: 6)
      var running = 6
      for number in 0..<6 {
        poller.start(
          Script {
            // The first has no request, and a proxy has named that of the last.
            if number > 0 { poller.beginRequest(UInt64(number), proxyID: number == 5 ? "of-the-proxy" : nil) }
            for _ in 0..<3 {
              await waiters[number].yield()
              seen[number].append(poller.currentRequestID)
              _ = await waiters[number].sleep(until: poller.deadline(after: 1))
              seen[number].append(poller.currentRequestID)
              _ = try? await poller.runOnThread("test") { 1 }
              seen[number].append(poller.currentRequestID)
            }
            poller.endRequest()
            await waiters[number].yield()
            seen[number].append(poller.currentRequestID)
            waiters[number].cancelDeadline()
            running -= 1
            others.resume(.ready)
          })
      }
      while running > 0 { _ = await others.sleep(until: poller.patience) }
      #expect(poller.currentRequestID.isEmpty)
      others.cancelDeadline()
      for number in 0..<6 {
        let id = number == 0 ? "" : number == 5 ? "of-the-proxy" : ids.id(UInt64(number))
        #expect(seen[number] == [String](repeating: id, count: 9) + [""])
      }
    }
  }

  @Test("A request has no id rather than that of another, if too many later ones have ids of a proxy")
  func manyNames() async throws {
    try await OnWorker.run { worker in
      let poller = worker.poller
      poller.identifyRequests(by: RequestIDs(RequestIDs.Key(), space: 0))
      let longest = String(repeating: "x", count: 128)
      poller.beginRequest(1, proxyID: longest)
      #expect(poller.currentRequestID == longest)
      let waiter = Waiter(poller)
      poller.start(
        Script {
          for number in 2...257 {
            poller.beginRequest(UInt64(number), proxyID: "p\(number)")
            #expect(poller.currentRequestID == "p\(number)")
          }
        })
      await waiter.yield()
      await waiter.yield()
      #expect(poller.currentRequestID.isEmpty)
      // Without names, the ids of later requests replace none.
      poller.beginRequest(258, proxyID: nil)
      #expect(poller.currentRequestID.utf8.count == 22)
      poller.identifyRequests(by: nil)
      #expect(poller.currentRequestID.isEmpty)
      poller.endRequest()
    }
  }
}
