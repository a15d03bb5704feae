import FoundationEssentials
import OAuth
import Policy
import PolicyFile
import Testing

@Suite("Presets of servers")
struct PresetTests {
  private static let kinds = ServerPreset.all.map(\.kind)

  private static func outcome(upstream: String, client: String = "") throws -> PolicyFile.Outcome {
    let text = """
      version: 1
      gateway:
        origin: https://id.example.com
        listeners: [{ address: 127.0.0.1:8080 }]
        trusted_proxies: [127.0.0.1]
        sealing_keys: { file: keys }
      upstream:
        url: http://127.0.0.1:9000
        pass: /login
      \(upstream)
      enforcement:
        mode: enforce
      clients:
        - id: com.example.app
          type: public
          application: native
          redirect_uris: ["com.example.app:/cb"]
          grants: [authorization_code]
          upstream:
            client_id: legacy
            client_secret: { env: LEGACY_SECRET }
      \(client)

      """
    return try PolicyFolder.load(text, environment: ["LEGACY_SECRET": "s3cret"])
  }

  private static func policy(upstream: String, client: String = "") throws -> Policy {
    let outcome = try outcome(upstream: upstream, client: client)
    return try #require(outcome.policy, "\(outcome.diagnostics)")
  }

  @Test("A policy with a kind and no endpoints has the settings of the preset, and no finding", arguments: kinds)
  func fills(_ kind: String) throws {
    let preset = try #require(ServerPreset.named(kind)).settings
    let outcome = try Self.outcome(upstream: "  kind: \(kind)")
    #expect(outcome.diagnostics == [])
    var expected = preset
    let policy = try #require(outcome.policy)
    expected.origin = policy.upstream.origin
    expected.passPrefixes = policy.upstream.passPrefixes
    #expect("\(policy.upstream)" == "\(expected)")
    let client = try #require(policy.clients[ClientID("com.example.app")])
    #expect(client.upstream.authentication == preset.authentication.authentication)
  }

  @Test("A setting of the policy wins over the preset, before and after `kind`")
  func policyWins() throws {
    let before = try Self.policy(upstream: "  authentication: basic\n  kind: flask-oauthlib")
    let after = try Self.policy(upstream: "  kind: flask-oauthlib\n  authentication: basic\n  state_limit: 512")
    for policy in [before, after] {
      #expect(policy.upstream.authentication == .basic)
      #expect(policy.clients[ClientID("com.example.app")]?.upstream.authentication == .basic)
      #expect(policy.upstream.endpoints.token == ["/oauth/token"])
    }
    #expect(after.upstream.stateLimit == 512)
  }

  @Test("The authentication of a client wins over that of the upstream")
  func clientWins() throws {
    let policy = try Self.policy(upstream: "  kind: flask-oauthlib", client: "      authentication: basic")
    #expect(policy.upstream.authentication == .post)
    #expect(policy.clients[ClientID("com.example.app")]?.upstream.authentication == .basic)
  }

  @Test("An endpoint of the policy replaces that of the preset, and the other endpoints keep the paths of the preset")
  func oneEndpoint() throws {
    let endpoints = "  endpoints: { token: /v2/token, revocation: /oauth/revoke }"
    for upstream in ["  kind: authlib\n" + endpoints, endpoints + "\n  kind: authlib"] {
      let policy = try Self.policy(upstream: upstream)
      #expect(policy.upstream.endpoints.authorization == ["/oauth/authorize"])
      #expect(policy.upstream.endpoints.token == ["/v2/token"])
      #expect(policy.upstream.endpoints.revocation == ["/oauth/revoke"])
    }
  }

  @Test("A path of the policy that the preset has for another endpoint is an error")
  func samePath() throws {
    let outcome = try Self.outcome(upstream: "  kind: authlib\n  endpoints: { revocation: /oauth/token }")
    #expect(outcome.policy == nil)
    let messages = outcome.diagnostics.filter { $0.severity == .error }.map(\.message)
    #expect(messages == ["path `/oauth/token` is both `token` and `revocation`; a path is one endpoint"])
  }

  @Test(
    "An unknown kind is one error with a suggestion and the list of kinds",
    arguments: [
      ("authlip", "did you mean `authlib`? use `authlib`, `flask-oauthlib` or `django-oauth-toolkit`"),
      ("keycloak", "use `authlib`, `flask-oauthlib` or `django-oauth-toolkit`"),
    ])
  func unknown(_ kind: String, _ advice: String) throws {
    let outcome = try Self.outcome(upstream: "  kind: \(kind)")
    #expect(outcome.policy == nil)
    let messages = outcome.diagnostics.filter { $0.severity == .error }.map(\.message)
    #expect(
      messages == [
        "`kind` cannot be `\(kind)`; \(advice), or remove it and write the `endpoints`; docs/servers.md has examples "
          + "for other servers"
      ])
  }

  @Test("Without a kind, the endpoints remain required")
  func required() throws {
    let outcome = try Self.outcome(upstream: "  pkce: strip")
    #expect(outcome.diagnostics.map(\.id).contains(.missingKey))
    #expect(outcome.policy == nil)
  }
}
