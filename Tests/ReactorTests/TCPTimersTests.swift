import Glibc
import Testing
import Time

@testable import Reactor

@Suite("The timers of TCP connections")
struct TCPTimersTests {
  /// Returns an option of a TCP socket; -1 if it cannot be read.
  private static func option(_ descriptor: Int32, _ level: Int32, _ name: Int32) -> Int32 {
    var (value, length): (Int32, socklen_t) = (0, socklen_t(MemoryLayout<Int32>.size))
    return unsafe getsockopt(descriptor, level, name, &value, &length) == 0 ? value : -1
  }

  /// The options of a socket that `TCPTimers` sets.
  private static func options(_ socket: Socket) -> [Int32] {
    [option(socket.descriptor, SOL_SOCKET, SO_KEEPALIVE)]
      + [TCP_KEEPIDLE, TCP_KEEPINTVL, TCP_KEEPCNT, TCP_USER_TIMEOUT].map {
        option(socket.descriptor, Int32(IPPROTO_TCP), $0)
      }
  }

  @Test("Accepted connections have the timers of their listener, and a connecting socket those that are set on it")
  func timers() async throws {
    let listener = try #require(try ListeningSocket.bind(try .loopback(), count: 1, id: 0).first)
    listener.setTimers(TCPTimers(keepalive: 30_000, userTimeout: 20_500))
    try await OnWorker.run { worker in
      let (client, accepted) = try await worker.poller.pair(on: worker, listener)
      #expect(Self.options(accepted) == [1, 30, 10, 3, 20_500])
      #expect(Self.options(client).first == 0 && Self.options(client).last == 0)
      client.setTimers(TCPTimers(keepalive: 1_000, userTimeout: 0))
      #expect(Self.options(client) == [1, 1, 1, 3, 0])
      client.setTimers(TCPTimers(keepalive: 0, userTimeout: 1_000))
      #expect(Self.options(client).first == 0 && Self.options(client).last == 1_000)
      client.close()
      accepted.close()
      // A closed socket has no timers.
      client.setTimers(TCPTimers(keepalive: 1_000))
    }
  }
}
