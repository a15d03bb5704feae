import GatewayTestSupport
import Glibc
import Policy
import Reactor
import Sealing
import Synchronization
import Testing
import Time

@testable import Gateway
@testable import Proxy

struct TCPKeepaliveTests {
  /// Returns the kernel's table of connections, which the kernel gives a page at a time.
  private static func connections() -> String {
    let file = unsafe open("/proc/net/tcp", O_RDONLY)
    defer { close(file) }
    var table: [UInt8] = []
    var page = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = unsafe page.withUnsafeMutableBytes { unsafe read(file, $0.baseAddress, $0.count) }
      guard count > 0 else { return String(decoding: table, as: UTF8.self) }
      table += page.prefix(count)
    }
  }

  /// Returns the kind of the kernel's timer of each connection that was accepted at `port`: `02` is that of keepalive,
  /// `00` means that none runs (proc(5), `/proc/net/tcp`).
  private static func timers(at port: Int) -> Set<String> {
    let digits = String(port, radix: 16, uppercase: true)
    let suffix = ":" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
    var timers: Set<String> = []
    for line in connections().split(separator: "\n").dropFirst() {
      let columns = line.split(separator: " ")
      // 01 is an established connection, 08 one whose client has ended its side.
      guard columns.count > 5, columns[1].hasSuffix(suffix), ["01", "08"].contains(columns[3]) else { continue }
      timers.insert(String(columns[5].prefix(2)))
    }
    return timers
  }

  @Test("Connections of clients are probed if the policy asks for it, and a reload applies to later ones")
  func probes() async throws {
    let policy = try FixturePolicy.with { $0.gateway.tcpKeepalive = 30_000 }
    try await GatewayFixture.run(policy) { gateway in
      let seen = Mutex<[Set<String>]>([])
      gateway.upstream.script { [port = gateway.port] _ in
        let timers = Self.timers(at: port)
        seen.withLock { $0.append(timers) }
        return nil
      }
      _ = try await gateway.get("/page")
      await gateway.reload { $0.gateway.tcpKeepalive = nil }
      _ = try await gateway.get("/page")
      #expect(seen.withLock { $0 } == [["02"], ["00"]])
    }
  }

  @Test("The timers of connections to the server come from the policy")
  func upstream() throws {
    let policy = try FixturePolicy.with {
      $0.upstream.tcpKeepalive = 60_000
      $0.upstream.tcpUserTimeout = 30_000
    }
    let snapshot = GatewaySnapshot(policy: policy, keyRing: .ephemeral(now: 1_700_000_000))
    let settings = snapshot.proxySettings(workers: 1, tlsServers: [], upstream: nil, bufferMemory: 1 << 28)
    #expect(settings.configuration.upstreamTimers.keepalive == 60_000)
    #expect(settings.configuration.upstreamTimers.userTimeout == 30_000)
  }
}
