import GatewayTestSupport
import HTTP1
import HTTP2
import Policy
import Reactor
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
      "request buffer": limits.requestBuffer, "request copy": limits.requestCopy,
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
        $0.requestBuffer -= 1
        $0.requestCopy -= 1
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

  // MARK: Settings of the upstream

  private static func configuration(_ adjust: (inout UpstreamSettings) -> Void) throws -> ProxyConfiguration {
    let policy = try FixturePolicy.with { adjust(&$0.upstream) }
    let snapshot = GatewaySnapshot(policy: policy, keyRing: KeyRing.ephemeral(now: 1_700_000_000))
    return snapshot.proxySettings(
      workers: 1, tlsServers: [], upstream: nil, bufferMemory: LimitSettings.defaultBufferMemory
    ).configuration
  }

  /// The settings of the upstream by their names. A health check is described by `healthChecks`.
  private static func upstream(_ configuration: ProxyConfiguration) -> [String: String] {
    [
      "connect timeout": "\(configuration.connectTimeout.count)",
      "response timeout": "\(configuration.responseTimeout.count)",
      "keepalive": "\(configuration.upstreamTimers.keepalive.count)",
      "user timeout": "\(configuration.upstreamTimers.userTimeout.count)",
      "connection age": "\(configuration.upstreamConnectionAge.count)",
      "connection requests": "\(configuration.requestsPerUpstreamConnection)",
      "failure statuses": "\(configuration.failureStatuses.sorted())",
      "failure count": "\(configuration.failureLimit)", "early hints": "\(configuration.earlyHints)",
      "trailers": "\(configuration.forwardsTrailers)",
      "upgrades": "\(configuration.upgrades)", "stripped": "\(configuration.strippedFields)",
      "kept": "\(configuration.keptFields)", "affinity": "\(configuration.affinity)",
    ]
  }

  @Test("A policy that sets nothing of `upstream` gives the proxy its own defaults")
  func upstreamDefaults() throws {
    let configuration = try Self.configuration { _ in }
    #expect(Self.upstream(configuration) == Self.upstream(ProxyConfiguration()))
    #expect(configuration.healthCheck == nil)
  }

  @Test("Each setting of `upstream` reaches the proxy")
  func upstreamSettings() throws {
    let configuration = try Self.configuration {
      $0.connectTimeout = 1_001
      $0.responseTimeout = 1_002
      $0.tcpKeepalive = 60_000
      $0.tcpUserTimeout = 30_000
      $0.connectionAge = 1_003
      $0.connectionRequests = 1_004
      $0.failureStatuses = [500, 599]
      $0.failureCount = 1_005
      $0.earlyHints = true
      $0.forwardsTrailers = true
      $0.upgrades = ["websocket"]
      $0.strippedHeaders = ["x-a"]
      $0.keptHeaders = ["x-b"]
      $0.affinity = .clientAddress
      $0.maxConnections = 1_006
      $0.reservedConnections = 107
    }
    #expect(
      Self.upstream(configuration) == [
        "connect timeout": "1001", "response timeout": "1002", "keepalive": "60000", "user timeout": "30000",
        "connection age": "1003", "connection requests": "1004", "failure statuses": "[500, 599]",
        "failure count": "1005", "early hints": "true", "trailers": "true", "upgrades": #"["websocket"]"#,
        "stripped": #"["x-a"]"#,
        "kept": #"["x-b"]"#, "affinity": "clientAddress",
      ])
    #expect(configuration.upstreamConnections == 1_006)
    #expect(configuration.limits.reservedUpstreamConnections == 107)
  }

  @Test("Each affinity reaches the proxy")
  func affinities() throws {
    let pairs: [(AddressAffinity?, UpstreamAffinity)] = [
      (nil, .first), (AddressAffinity.none, .leastOutstanding), (.clientAddress, .clientAddress),
      (.cookie("JSESSIONID"), .cookie("JSESSIONID")),
    ]
    for (affinity, expected) in pairs {
      #expect(try Self.configuration { $0.affinity = affinity }.affinity == expected)
    }
  }

  @Test("Each setting of `health_check` reaches the proxy")
  func healthChecks() throws {
    let check = try #require(
      try Self.configuration {
        var check = HealthCheckSettings()
        check.path = "/health"
        check.interval = 7_001
        check.timeout = 7_002
        check.statuses = [204, 404]
        check.failures = 3
        check.successes = 4
        $0.healthCheck = check
      }.healthCheck)
    var expected = HealthCheck(path: "/health", interval: 7_001, timeout: 7_002)
    expected.statuses = [204, 404]
    expected.failures = 3
    expected.successes = 4
    #expect(check == expected)
  }
}
