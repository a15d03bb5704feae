import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Testing

/// Fields that only a trusted proxy may send. In observe mode each dropped field is a finding.
@Suite("I-transport: dropped fields")
struct DroppedFieldTests {
  /// A policy that trusts no peer and observes every client.
  private static func observing() throws -> Policy {
    try FixturePolicy.onLoopback { policy in
      policy.mode = .observe
      policy.unknownClients = .observe
      policy.editAll { $0.mode = .observe }
      policy.upstream.strippedHeaders = ["x-corp-*"]
    }
  }

  private static func findings(_ gateway: GatewayFixture) -> [String] {
    gateway.logLines.filter { $0.contains("identity-field-dropped") }.compactMap { line in
      line.firstMatch(of: /"findings":\["([^\]]*)"\]/).map { String($0.1) }
    }
  }

  @Test("I-transport: in observe mode a dropped identity field is a finding by its known name or its glob")
  func findings() async throws {
    try await GatewayFixture.run(try Self.observing()) { gateway in
      let fields: Headers = [
        "IV-Secret-Name": "value-1", "X-Remote-User": "value-2", "X_Secret_Case": "value-3", "X-Corp-Secret": "value-4",
        "X-Original-URL": "/value-5", "Accept": "*/*", "X-Request-Id": "r",
      ]
      #expect(try await gateway.get("/page", fields).status > 0)
      let sent = try #require(gateway.upstream.recorder.requests.last)
      #expect(!sent.headers.fields.contains { $0.value.contains("value-") })
      #expect(
        Self.findings(gateway).sorted() == [
          "identity-field-dropped:irregular", "identity-field-dropped:iv-*", "identity-field-dropped:x-corp-*",
          "identity-field-dropped:x-original-url", "identity-field-dropped:x-remote-user",
        ])
      let lines = gateway.logLines
      #expect(lines.allSatisfy { $0.contains(#""mode":"observe""#) && $0.contains(#""decision":"forward""#) })
      #expect(lines.allSatisfy { !$0.lowercased().contains("secret") && !$0.contains("value-") }, "\(lines)")
      #expect(Set(lines.map { $0.member("request") }).count == 1)
    }
  }

  @Test(
    "I-transport: a field that each request carries is counted each time and logged once", arguments: [false, true])
  func rate(isIntercepted: Bool) async throws {
    try await GatewayFixture.run(try Self.observing()) { gateway in
      let target = isIntercepted ? gateway.authorizationTarget("p1") : "/page"
      for _ in 0..<5 { _ = try await gateway.get(target, ["sm-user": "ada"]) }
      #expect(Self.findings(gateway) == ["identity-field-dropped:sm-*"])
      #expect(gateway.metricsText.contains("\nproofgate_identity_fields_dropped_total 5\n"))
    }
  }

  @Test("I-transport: if every client is enforced, dropped fields are not findings")
  func enforced() async throws {
    try await GatewayFixture.run(try FixturePolicy.onLoopback()) { gateway in
      _ = try await gateway.get("/page", ["sm-user": "ada"])
      #expect(gateway.logLines.isEmpty)
      #expect(gateway.metricsText.contains("\nproofgate_identity_fields_dropped_total 0\n"))
    }
  }
}
