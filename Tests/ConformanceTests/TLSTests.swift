import GatewayTestSupport
import HTTP
import LegacyServer
import Policy
import TLS
import TLSTestSupport
import Testing
import Time

/// RFC 8996, RFC 9325 and RFC 9700, section 4.13: the protection of the connections to clients and to the upstream.
@Suite("TLS")
struct TLSTests {
  private static func policy(_ adjust: (inout FixturePolicy) throws -> Void = { _ in }) throws -> Policy {
    var policy = try FixturePolicy()
    policy.serveTLS([try TestCertificates.identity("gateway")])
    try adjust(&policy)
    return policy.policy
  }

  @Test("8996-tls-versions: TLS 1.2 and TLS 1.3 are accepted", arguments: [TLSVersion.v12, .v13])
  func versions(version: TLSVersion) async throws {
    let tls = try TestCertificates.client(from: version, to: version)
    try await GatewayFixture.run(try Self.policy()) { gateway in
      let answer = try await gateway.send(Request(method: "GET", target: gateway.authorizationTarget("p1")), tls: tls)
      #expect(answer.status == 302)
    }
  }

  @Test("8996-tls-versions: SSL 3.0, TLS 1.0 and TLS 1.1 are not negotiated", arguments: [UInt8(0), 1, 2])
  func oldVersions(minor: UInt8) async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      // ClientHello with ECDHE-RSA-AES128-SHA, ECDHE-ECDSA-AES128-SHA and AES128-SHA.
      let hello: [UInt8] =
        [3, minor] + [UInt8](repeating: 7, count: 32) + [0, 0, 6, 0xc0, 0x13, 0xc0, 0x09, 0x00, 0x2f, 1, 0]
      let message: [UInt8] = [1, 0, 0, UInt8(hello.count)] + hello
      let answer = try await ClientLoop.sendRaw(
        [22, 3, min(minor, 1), 0, UInt8(message.count)] + message, toPort: gateway.port)
      // A fatal alert, and no ServerHello.
      #expect(answer.first == 21, "\(answer)")
      #expect(answer.count == 7)
    }
  }

  @Test(
    "8996-tls-versions: only forward-secret suites are negotiated",
    // AES128-GCM-SHA256 and AES256-SHA, which exchange keys by RSA.
    arguments: [[UInt8](arrayLiteral: 0x00, 0x9c), [0x00, 0x35]])
  func suites(suite: [UInt8]) async throws {
    // An RSA key, so that the key exchange is the only reason to refuse these suites.
    let policy = try Self.policy { $0.serveTLS([try TestCertificates.identity("other")]) }
    try await GatewayFixture.run(policy) { gateway in
      let hello: [UInt8] = [3, 3] + [UInt8](repeating: 7, count: 32) + [0, 0, 2] + suite + [1, 0]
      let message: [UInt8] = [1, 0, 0, UInt8(hello.count)] + hello
      let answer = try await ClientLoop.sendRaw([22, 3, 1, 0, UInt8(message.count)] + message, toPort: gateway.port)
      // handshake_failure (RFC 5246, section 7.2).
      #expect(answer.first == 21 && Array(answer.suffix(2)) == [2, 40], "\(answer)")
    }
  }

  @Test("9325-3.2-hsts: every response over TLS has the field once, with the gateway's value")
  func strictTransport() async throws {
    let tls = try TestCertificates.client()
    try await GatewayFixture.run(try Self.policy()) { gateway in
      gateway.upstream.script { request in
        request.path == "/plain"
          ? Response(status: 200, headers: ["Strict-Transport-Security": "max-age=1"]) : nil
      }
      for target in [
        "/plain", "/nothing-here", gateway.authorizationTarget("p1"), gateway.authorizationTarget("nobody"),
      ] {
        let answer = try await gateway.send(Request(method: "GET", target: target), tls: tls)
        #expect(answer.headers.all("Strict-Transport-Security") == ["max-age=31536000"], "\(target)")
      }
    }
  }

  @Test("9325-3.2-hsts: the policy sets the field, and plaintext responses do not have it")
  func strictTransportSettings() async throws {
    let tls = try TestCertificates.client()
    try await GatewayFixture.run(try Self.policy()) { gateway in
      let request = Request(method: "GET", target: "/nothing-here")
      await gateway.reload { $0.gateway.strictTransport = StrictTransport(maxAge: 60, includesSubdomains: true) }
      let changed = try await gateway.send(request, tls: tls)
      #expect(changed.headers["Strict-Transport-Security"] == "max-age=60; includeSubDomains")
      await gateway.reload { $0.gateway.strictTransport = nil }
      let without = try await gateway.send(request, tls: tls)
      #expect(without.headers["Strict-Transport-Security"] == nil)
    }
    try await GatewayFixture.run { gateway in
      let plain = try await gateway.get("/nothing-here")
      #expect(plain.headers["Strict-Transport-Security"] == nil)
    }
  }

  @Test("9325-3.2-hsts: the gateway's cookie is Secure and HttpOnly, and the upstream's cookies get Secure")
  func cookies() async throws {
    let tls = try TestCertificates.client()
    try await GatewayFixture.run(try Self.policy()) { gateway in
      gateway.upstream.script { request in
        guard request.path == "/cookies" else { return nil }
        return Response(
          status: 200,
          headers: Headers([
            .init(name: "Set-Cookie", value: "a=1; SameSite=None"),
            .init(name: "Set-Cookie", value: "b=2; secure; Path=/"),
            .init(name: "Set-Cookie", value: "secure=3"),
          ]))
      }
      let answer = try await gateway.send(Request(method: "GET", target: "/cookies"), tls: tls)
      #expect(
        answer.headers.all("Set-Cookie") == [
          "a=1; SameSite=None; Secure", "b=2; secure; Path=/", "secure=3; Secure",
        ])
      let begun = try await gateway.send(Request(method: "GET", target: gateway.authorizationTarget("p1")), tls: tls)
      let own = try #require(begun.headers.all("Set-Cookie").first { $0.hasPrefix("__Host-") })
      #expect(own.contains("; Secure") && own.contains("; HttpOnly"))
    }
  }

  @Test(
    "9700-4.13-upstream-link: an upstream whose certificate is not valid gives 502 and gets no byte of a request",
    arguments: ["alone", "expired", "other"])
  func upstream(certificate: String) async throws {
    let policy = try FixturePolicy.with {
      $0.upstream.tls = (try? TestCertificates.chain("server-ca")).map {
        UpstreamTLS(authorities: $0, serverName: "localhost")
      }
    }
    try await GatewayFixture.run(policy, upstreamTLS: try TestCertificates.server([certificate])) { gateway in
      let first = try await gateway.get("/")
      #expect(first.status == 502)
      let second = try await gateway.post(
        "/introspect", ["token": "t", "client_id": "w3", "client_secret": "w3secret"])
      #expect(second.status == 502)
      #expect(gateway.upstream.recorder.count == 0)
    }
  }

  @Test("9700-4.13-upstream-link: an upstream whose certificate is valid gets the request")
  func verified() async throws {
    let policy = try FixturePolicy.with {
      $0.upstream.tls = (try? TestCertificates.chain("server-ca")).map {
        UpstreamTLS(authorities: $0, serverName: "127.0.0.1")
      }
    }
    try await GatewayFixture.run(policy, upstreamTLS: try TestCertificates.server()) { gateway in
      let answer = try await gateway.get(gateway.authorizationTarget("p1"))
      #expect(answer.status == 302)
      #expect(gateway.upstream.recorder.count == 1)
    }
  }
}
