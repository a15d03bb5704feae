import GatewayTestSupport
import HTTP1
import HTTP2
import Policy
import Sealing
import Testing
import Time

@testable import Gateway
@testable import Proxy

/// The layers below the policy do not depend on it, so each layer defines its limits itself.
struct LimitSettingsTests {
  private static func settings(_ adjust: (inout LimitSettings) -> Void = { _ in }) throws -> ProxyConfiguration {
    let policy = try FixturePolicy.with {
      $0.upstream.maxConnections = ProxyConfiguration().upstreamConnections
      $0.upstream.reservedConnections = 0
      adjust(&$0.gateway.limits)
    }
    let snapshot = GatewaySnapshot(policy: policy, keyRing: KeyRing.ephemeral(now: 1_700_000_000))
    return snapshot.proxySettings(
      workers: 1, tlsServers: [], upstream: nil, bufferMemory: LimitSettings.defaultBufferMemory
    ).configuration
  }

  /// Every limit by its name.
  private static func limits(_ configuration: ProxyConfiguration) -> [String: Int] {
    let limits = configuration.limits
    let http2 = configuration.http2 ?? HTTP2Limits()
    return [
      "header bytes": limits.head.bytes, "header fields": limits.head.fields, "target length": limits.head.target,
      "header timeout": configuration.headerTimeout.count, "body timeout": configuration.bodyTimeout.count,
      "tunnel timeout": configuration.tunnelTimeout.count, "response header bytes": limits.responseHead.bytes,
      "response header fields": limits.responseHead.fields,
      "idle timeout": configuration.idleTimeout.count, "request timeout": limits.requestTimeout.count,
      "minimum rate": limits.minimumRate, "connections": limits.connections,
      "connections per address": limits.connectionsPerAddress,
      "requests per connection": limits.requestsPerConnection, "buffer memory": limits.bufferMemory,
      "concurrent streams": http2.concurrentStreams, "resets": http2.streamResets,
      "control frames": http2.controlFrames,
    ]
  }

  @Test("A policy without limits gives the proxy its own defaults")
  func defaults() throws {
    #expect(Self.limits(try Self.settings()) == Self.limits(ProxyConfiguration()))
  }

  @Test("The limit of requests of one address reaches the proxy, which has a default of its own")
  func requestsPerAddress() throws {
    let limited = try Self.settings { $0.requestsPerAddress = 80 }
    #expect(limited.limits.requestsPerAddress == 80)
    #expect(try Self.settings().limits.requestsPerAddress == nil)
  }

  @Test("Each limit of a policy reaches the proxy")
  func all() throws {
    let before = Self.limits(try Self.settings())
    let after = Self.limits(
      try Self.settings {
        $0.headerBytes -= 1
        $0.headerFields -= 1
        $0.targetLength -= 1
        $0.headerTimeout -= 1
        $0.bodyTimeout -= 1
        $0.tunnelTimeout -= 1
        $0.responseHeaderBytes -= 1
        $0.responseHeaderFields -= 1
        $0.idleTimeout -= 1
        $0.requestTimeout -= 1
        $0.minimumRate -= 1
        $0.connections -= 1
        $0.connectionsPerAddress -= 1
        $0.requestsPerConnection -= 1
        $0.maxBufferMemory = LimitSettings.defaultBufferMemory - 1
        $0.concurrentStreams -= 1
        $0.streamResets -= 1
        $0.controlFrames -= 1
      })
    #expect(after == before.mapValues { $0 - 1 })
  }
}
