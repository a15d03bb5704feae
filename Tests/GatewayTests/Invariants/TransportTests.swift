import Gateway
import GatewayTestSupport
import HTTP
import HTTP1
import LegacyServer
import Policy
import Proxy
import Reactor
import Sealing
import Stores
import Telemetry
import Testing
import Time

@Suite("I-transport")
struct TransportTests {
  private static let policy = Result { try FixturePolicy.with() }

  /// The route of a request from this peer.
  private func route(_ target: String, method: String = "GET", _ peer: Peer) throws -> Route {
    let metrics = MetricsRegistry(workers: 1, policyVersion: "test")
    let log = DecisionLog(workers: 1, signal: NoSignal(), metrics: metrics) { 0 }
    let snapshot = GatewaySnapshot(policy: try Self.policy.get(), keyRing: KeyRing.ephemeral(now: 1_700_000_000))
    let gateway = Gateway(
      snapshot, GatewayResources(store: MemoryStore(), metrics: metrics, log: log), worker: 0)
    let bytes = Array("\(method) \(target) HTTP/1.1\r\nHost: gw.example\r\n\r\n".utf8)
    let fields = HeadIndex()
    let head = try RequestHeadParser.parse(bytes.span, length: bytes.count, into: fields)
    return gateway.route(head, bytes.span, fields, client: ClientFacts(peer: peer, forwardedHost: nil))
  }

  private struct NoSignal: WakeSignal {
    func signal() {}
    func wait() {}
  }

  private static let far = Peer(address: "192.0.2.7", isSecure: false, isLoopback: false)

  @Test(
    "I-transport: OAuth endpoints refuse plaintext from a remote peer",
    arguments: [
      "/authorize?client_id=n1", "/token", "/revoke", "/introspect", "/.proofgate/callback?code=x",
      "/.proofgate/consent",
    ])
  func plaintext(target: String) throws {
    guard case .refuse(let response) = try route(target, Self.far) else {
      Issue.record("it was not refused")
      return
    }
    #expect(response.status == 403)
    #expect(response.text.contains("TLS"))
  }

  @Test(
    "I-transport: a request over TLS or from loopback is accepted",
    arguments: [
      Peer(address: "192.0.2.7", isSecure: true, isLoopback: false),
      Peer(address: "127.0.0.1", isSecure: false, isLoopback: true),
    ])
  func protected(peer: Peer) throws {
    for target in ["/authorize?client_id=n1", "/token", "/revoke", "/introspect", "/.proofgate/consent"] {
      guard case .intercept = try route(target, peer) else {
        Issue.record("\(target) was not taken")
        continue
      }
    }
  }

  @Test("I-transport: paths that are not OAuth endpoints pass over plaintext")
  func other() throws {
    guard case .pass = try route("/login", Self.far) else {
      Issue.record("it did not pass")
      return
    }
  }

  @Test("I-transport: no proxy is trusted by default")
  func defaults() throws {
    let settings = GatewaySettings(
      origin: Origin(scheme: .https, host: "gw.example"), issuer: "https://gw.example", listeners: [], admin: nil)
    #expect(settings.trustedProxies.isEmpty)
  }

  private static let forged: Headers = [
    "X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "https", "X-Forwarded-Host": "evil.example",
    "Forwarded": "for=203.0.113.9;host=evil.example;proto=https", "X-Forwarded-Prefix": "/evil",
    "X-Real-IP": "203.0.113.9",
    "X-Forwarded-Port": "4443", "X-Original-URL": "/admin",
  ]

  @Test("I-transport: forwarding fields of an untrusted peer are dropped, at endpoints and on every other path")
  func untrusted() async throws {
    let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"
    try await GatewayFixture.run(before: .bytes(answer), try FixturePolicy.onLoopback()) { gateway, raw in
      _ = try await gateway.get("/login", Self.forged)
      _ = try await gateway.get(gateway.authorizationTarget("p1"), Self.forged)
      #expect(raw.requests.count == 2)
      for request in raw.requests {
        let text = request.lowercased()
        #expect(!text.contains("203.0.113.9"))
        #expect(!text.contains("evil"))
        #expect(!text.contains("x-forwarded-proto: https"))
        #expect(!text.contains("/admin"))
        #expect(text.contains("x-forwarded-for: 127.0.0.1\r\n"))
        #expect(text.contains("x-forwarded-proto: http\r\n"))
        #expect(text.contains("x-forwarded-host: 127.0.0.1:\(gateway.port)\r\n"))
      }
    }
  }

  private static let identities: Headers = [
    "iv-user": "mallory", "SM_USER": "mallory", "OAM-Remote-User": "mallory", "$WSRU": "mallory",
    "WL-Proxy-Client-Cert": "mallory", "X-Case": "honest", "X_Case": "mallory", "X-Badge": "mallory",
    "X-WebAuth-User": "mallory",
  ]

  @Test("I-transport: identity fields of an untrusted peer are dropped, at endpoints and on every other path")
  func identity() async throws {
    let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"
    let policy = try FixturePolicy.onLoopback {
      $0.upstream.strippedHeaders = ["x-badge"]
      $0.upstream.keptHeaders = ["x-webauth-user"]
    }
    try await GatewayFixture.run(before: .bytes(answer), policy) { gateway, raw in
      _ = try await gateway.get("/login", Self.identities)
      _ = try await gateway.get(gateway.authorizationTarget("p1"), Self.identities)
      #expect(raw.requests.count == 2)
      for request in raw.requests {
        let lines = request.split(separator: "\r\n")
        #expect(lines.filter { $0.hasSuffix("mallory") } == ["X-WebAuth-User: mallory"])
        #expect(lines.contains("X-Case: honest"))
      }
    }
  }

  @Test("I-transport: the client address and scheme that a trusted proxy reports go upstream")
  func trusted() async throws {
    let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"
    try await GatewayFixture.run(before: .bytes(answer)) { gateway, raw in
      for target in ["/login", gateway.authorizationTarget("p1")] {
        _ = try await gateway.get(
          target, ["X-Forwarded-For": "198.51.100.1, 203.0.113.9", "X-Forwarded-Proto": "https"])
      }
      #expect(raw.requests.count == 2)
      for request in raw.requests {
        let text = request.lowercased()
        #expect(text.contains("x-forwarded-proto: https\r\n"))
        #expect(text.contains("x-forwarded-for: 203.0.113.9"))
        #expect(!text.contains("198.51.100.1"))
        #expect(text.contains("x-forwarded-host: gw.example\r\n"))
      }
    }
  }

  @Test(
    "I-transport: a request for another host gets 421",
    arguments: ["evil.example", "gw.example.evil", "gw.example:8443"])
  func otherHost(host: String) async throws {
    try await GatewayFixture.run { gateway in
      for target in [gateway.authorizationTarget("p1"), "/login"] {
        let response = try await gateway.expectRefused(get: target, ["Host": host], status: 421)
        #expect(response.location == nil)
      }
      try await gateway.expectRefused(get: gateway.authorizationTarget("p1"), ["X-Forwarded-Host": host], status: 421)
      #expect(
        gateway.metricsText.contains(
          #"proofgate_decisions_total{endpoint="path",client="unknown",rule="host-unknown",decision="reject"} 3"#))
    }
  }
}
