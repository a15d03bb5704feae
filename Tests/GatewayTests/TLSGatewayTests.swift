import Demo
import GatewayTestSupport
import HTTP
import LegacyServer
import Policy
import TLS
import TLSTestSupport
import Telemetry
import Testing

/// The gateway with TLS on both sides, to clients and to the upstream.
@Suite("A gateway that speaks TLS")
struct TLSGatewayTests {
  private static func policy(_ adjust: (inout FixturePolicy) throws -> Void = { _ in }) throws -> Policy {
    var policy = try FixturePolicy()
    policy.serveTLS([try TestCertificates.identity("gateway")])
    try adjust(&policy)
    return policy.policy
  }

  private static func trusting(_ authority: String, _ name: String = "127.0.0.1") throws -> UpstreamTLS {
    UpstreamTLS(authorities: try TestCertificates.chain(authority), serverName: name)
  }

  @Test("A flow over TLS runs from the app to the legacy server")
  func flow() async throws {
    let tls = try TestCertificates.client()
    let policy = try Self.policy { $0.upstream.tls = try Self.trusting("server-ca") }
    try await GatewayFixture.run(policy, upstreamTLS: try TestCertificates.server()) { gateway in
      let front = gateway.front
      var browser = DemoBrowser(appRedirectURI: "com.example.n1:/cb") { address, request in
        try await address.origin == front.origin
          ? gateway.send(request, tls: tls) : ClientLoop.send(address, request)
      }
      let delivery = try await gateway.walk(&browser)
      let code = try #require(delivery.parameters["code"])
      var request = Request(method: "POST", target: "/token", body: Array(gateway.tokenForm(code).encoded.utf8))
      request.headers.append("Content-Type", "application/x-www-form-urlencoded")
      let tokens = try await gateway.send(request, tls: tls)
      #expect(tokens.status == 200)
      #expect(tokens.text.contains("access_token"))
    }
  }

  @Test("I-transport: a TLS listener is secure by itself, and forwarding fields of an untrusted peer are ignored")
  func transport() async throws {
    let tls = try TestCertificates.client()
    try await GatewayFixture.run(try Self.policy()) { gateway in
      let request = Request(
        method: "GET", target: gateway.authorizationTarget("p1"), headers: ["X-Forwarded-Proto": "http"])
      let answer = try await gateway.send(request, tls: tls)
      #expect(answer.status == 302)
    }
  }

  @Test("A reload changes the certificate, and an upstream that is no longer trusted gives a notice")
  func reload() async throws {
    let before = try TestCertificates.client()
    // A second client, without a session to resume.
    let fresh = try TestCertificates.client()
    let after = try TestCertificates.client("other.example")
    let other = try TestCertificates.identity("other")
    let stranger = try Self.trusting("client-ca")
    let policy = try Self.policy { $0.upstream.tls = try Self.trusting("server-ca") }
    try await GatewayFixture.run(policy, upstreamTLS: try TestCertificates.server()) { gateway in
      let page = Request(method: "GET", target: "/")
      let first = try await gateway.send(page, tls: before)
      #expect(first.status < 500)
      await gateway.reload {
        $0.serveTLS([other])
        $0.upstream.tls = stranger
      }
      await #expect(throws: TLSFailure.self) { _ = try await gateway.send(page, tls: fresh) }
      let second = try await gateway.send(page, tls: after)
      #expect(second.status == 502)
      let third = try await gateway.send(page, tls: after)
      #expect(third.status == 502)
      // Each of the two requests has a notice of its own.
      let notices = try await gateway.notices(3)
      let reason =
        "no TLS connection to the upstream: its certificate is not trusted: unable to get local issuer certificate"
      #expect(notices.count { $0 == reason } == 1, "\(notices)")
      let snapshot = gateway.metrics.snapshot()
      #expect(snapshot.upstreamErrors[.tls] == 2)
      #expect(snapshot.handshakes == 3)
      #expect(snapshot.failedHandshakes == 1)
    }
  }

  @Test("A plaintext listener stays plaintext after a reload")
  func kind() async throws {
    let identity = try TestCertificates.identity("gateway")
    try await GatewayFixture.run { gateway in
      await gateway.reload { policy in
        let trusted = policy.gateway.trustedProxies
        policy.serveTLS([identity])
        policy.gateway.trustedProxies = trusted
      }
      let answer = try await gateway.get("/")
      #expect(answer.status < 500)
    }
  }

  @Test("Sessions resume, and the metrics count them")
  func resumption() async throws {
    let tls = try TestCertificates.client()
    try await GatewayFixture.run(try Self.policy()) { gateway in
      for _ in 0..<2 { _ = try await gateway.send(Request(method: "GET", target: "/"), tls: tls) }
      #expect(gateway.metrics.snapshot().resumptions == 1)
      #expect(gateway.metrics.snapshot().handshakes == 2)
    }
  }
}
