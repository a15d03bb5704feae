import GatewayTestSupport
import HTTP
import Policy
import Testing

@Suite("I-path: metadata of the upstream")
struct MetadataTests {
  private static let paths = [
    "/.well-known/openid-configuration", "/.well-known/oauth-authorization-server",
    "/idp/.well-known/openid-configuration", "/.well-known/oauth-authorization-server/idp",
    "/.well-known/openid-configuration?x=1",
  ]

  private static func policy(_ adjust: (inout FixturePolicy) -> Void = { _ in }) throws -> Policy {
    try FixturePolicy.with {
      $0.upstream.endpoints.token.append("/idp/token")
      adjust(&$0)
    }
  }

  @Test(
    "I-path: with `metadata: off`, the upstream's own metadata is refused while a client is enforced",
    arguments: paths)
  func closed(path: String) async throws {
    try await GatewayFixture.run(try Self.policy { $0.gateway.metadata = .off }) { gateway in
      let response = try await gateway.expectRefused(get: path, status: 404)
      #expect(response.text.contains("metadata-leads-around"))
      #expect(gateway.logLines.contains { $0.contains(#""rule":"metadata-leads-around""#) })
    }
  }

  @Test(
    "I-path: a document of the upstream at a path that is not the gateway's is refused while a client is enforced",
    arguments: paths.filter { $0.contains("idp") })
  func otherPaths(path: String) async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      try await gateway.expectRefused(get: path, status: 404)
    }
  }

  @Test("I-observe: while no client is enforced, the upstream's own metadata passes with a finding", arguments: paths)
  func observed(path: String) async throws {
    let policy = try Self.policy { policy in policy.editAll { $0.mode = .observe } }
    try await GatewayFixture.run(policy) { gateway in
      gateway.upstream.script { _ in Response(status: 200, body: Array("document".utf8)) }
      let response = try await gateway.get(path)
      #expect(response.text == "document")
      #expect(gateway.logLines.contains { $0.contains("would-reject:metadata-leads-around") })
    }
  }

  @Test("I-path: a document that the policy lists in not_endpoints passes")
  func listed() async throws {
    let policy = try Self.policy { $0.upstream.notEndpoints = ["/.well-known/openid-configuration"] }
    try await GatewayFixture.run(policy) { gateway in
      gateway.upstream.script { _ in Response(status: 200, body: Array("document".utf8)) }
      #expect(try await gateway.get("/.well-known/openid-configuration").text == "document")
      try await gateway.expectRefused(get: "/idp/.well-known/openid-configuration", status: 404)
    }
  }
}
