import Glibc
import Reactor
import Synchronization
import Testing
import Time

@testable import Proxy

extension ProxyTests {
  struct UpstreamTimersTests {
    @Test("A connection to the upstream has the configured TCP timers")
    func timers() async throws {
      try await Bench.Setup(
        configure: { $0.upstreamTimers = TCPTimers(keepalive: 90_000, userTimeout: 45_000) }
      ).run { _, bench in
        _ = try await bench.get("/")
        let idle = Mutex<Set<[Int32]>>([])
        await bench.server.update { proxy in
          for connection in proxy.pool.established.values {
            let options = [TCP_KEEPIDLE, TCP_KEEPINTVL, TCP_USER_TIMEOUT].map { name in
              var (value, length): (Int32, socklen_t) = (-1, socklen_t(MemoryLayout<Int32>.size))
              _ = unsafe getsockopt(connection.socket.descriptor, Int32(IPPROTO_TCP), name, &value, &length)
              return value
            }
            _ = idle.withLock { $0.insert(options) }
          }
        }
        #expect(idle.withLock { $0 } == [[90, 30, 45_000]])
      }
    }
  }
}
