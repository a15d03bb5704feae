import Testing
import Time

@testable import Reactor

struct StartTests {
  private actor Elsewhere {
    func visit() {}
  }

  @Test("A task for the waiting room is handed over at once, and a task that goes elsewhere is noticed")
  func handover() async throws {
    try await OnWorker.run { worker in
      let waits = worker.runtimeEnqueuesJobsSynchronously()
      #expect(waits)
      let elsewhere = Elsewhere()
      let leaves = worker.runtimeEnqueuesJobsSynchronously { _, _ in await elsewhere.visit() }
      #expect(!leaves)
      // The task of the first check continues, and waits still work.
      let waiter = Waiter(worker.poller)
      #expect(await waiter.sleep(until: worker.poller.deadline(after: 1)) == .timedOut)
      waiter.cancelDeadline()
    }
  }

  @Test(
    "A network error belongs to the accepted connection, and the next connection is accepted at once",
    arguments: [
      ("EPERM", 1), ("EINTR", 4), ("ENONET", 64), ("EPROTO", 71), ("ENOPROTOOPT", 92), ("EOPNOTSUPP", 95),
      ("ENETDOWN", 100),
      ("ENETUNREACH", 101), ("ECONNABORTED", 103), ("ETIMEDOUT", 110), ("EHOSTDOWN", 112), ("EHOSTUNREACH", 113),
    ])
  func ofConnection(_ name: String, _ code: Int32) {
    #expect(Acceptor.isConnectionError(IOError(code: code)), "\(name)")
  }

  @Test(
    "Without descriptors or memory accepting pauses",
    arguments: [("ENFILE", 23), ("EMFILE", 24), ("ENOMEM", 12), ("ENOBUFS", 105), ("EINVAL", 22), ("EBADF", 9)])
  func ofProcess(_ name: String, _ code: Int32) {
    #expect(!Acceptor.isConnectionError(IOError(code: code)), "\(name)")
  }
}
