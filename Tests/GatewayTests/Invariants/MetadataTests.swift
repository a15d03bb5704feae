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

  @Test(
    "I-path: a well-known path below any folder is refused while a client is enforced, however it is written",
    arguments: [
      ("/tenant/.well-known/openid-configuration", 404), ("/a/b/.well-known/oauth-authorization-server", 404),
      ("/tenant/.well-known/openid-configuration/x", 404), ("/tenant/.well-known/openid-configuration?x=1", 404),
      ("/tenant/.Well-Known/openid-configuration", 400), ("/tenant/.well-known//openid-configuration", 400),
      ("/tenant/%2ewell-known/openid-configuration", 400), ("/tenant/.well-known/openid-configuration.json", 400),
      ("/tenant/x/../.well-known/openid-configuration", 400), ("/tenant/.well-known/openid%2dconfiguration", 400),
    ])
  func anyFolder(path: String, status: Int) async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      gateway.upstream.script { _ in Response(status: 200, body: Array("document".utf8)) }
      let refused = try await gateway.expectRefused(get: path, status: status)
      #expect(refused.text.contains(status == 404 ? "metadata-leads-around" : "path-"))
      await gateway.reload { policy in policy.editAll { $0.mode = .observe } }
      #expect(try await gateway.get(path).text == "document")
    }
  }

  @Test("I-path: paths that only contain a part of a well-known path, and folders in not_endpoints, pass")
  func otherFolders() async throws {
    let policy = try Self.policy { $0.upstream.notEndpoints = ["/realms/*/.well-known/openid-configuration"] }
    try await GatewayFixture.run(policy) { gateway in
      gateway.upstream.script { _ in Response(status: 200, body: Array("document".utf8)) }
      for path in [
        "/realms/other/.well-known/openid-configuration", "/tenant/.well-known/webfinger", "/.well-known/x",
        "/tenant/openid-configuration", "/docs/openid-configuration/.well-known",
      ] {
        let response = try await gateway.get(path)
        #expect(response.text == "document", "\(path)")
      }
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
