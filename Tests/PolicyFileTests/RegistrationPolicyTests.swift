import OAuth
import Policy
import Testing

@testable import PolicyFile

@Suite("The mapping `registration`")
struct RegistrationPolicyTests {
  @Test("All settings of the mapping reach the policy")
  func complete() throws {
    let finding = FindingCase(
      .invalidValue, "complete",
      clients: """
        registration:
          path: /oauth/register
          scopes: [mail, openid]
          redirects: { https: [app.example.com, .example.net], loopback: true, localhost: reject, schemes: [com.example.app] }
          secrets: true
          upstream: { client_id: legacy, client_secret: { env: LEGACY_SECRET } }
          initial_access_token: { env: STRONG_SECRET }
          not_before: 2027-03-31
          deny: { ids: pg1.x, hosts: [bad.example], schemes: cursor, loopback: false, names: ["*bank*"] }
        """, expected: "")
    let outcome = try finding.load()
    #expect(outcome.text == "")
    let registration = try #require(outcome.policy?.registration)
    #expect(registration.path == "/oauth/register")
    #expect(registration.scopes == ["mail", "openid"])
    #expect(registration.redirects.hosts == ["app.example.com", ".example.net"])
    #expect(registration.redirects.loopback)
    #expect(registration.redirects.localhost == .reject)
    #expect(registration.issuesSecrets)
    #expect(registration.redirects.schemes == ["com.example.app"])
    #expect(registration.upstream.clientID == ClientID("legacy"))
    #expect(registration.upstream.redirectURI == .callback)
    #expect(registration.initialAccessToken != nil)
    #expect(registration.notBefore != nil)
    #expect(registration.denied.ids == ["pg1.x"])
    #expect(registration.denied.names == ["*bank*"])
  }

  @Test(
    "A portless `localhost` URI of a registered client matches any port unless the policy says otherwise",
    arguments: [
      ("", "", LocalhostPolicy.portless, ""), ("", "reject", .reject, ""), ("", "any_port", .anyPort, "any_port"),
      ("reject", "", .reject, ""), ("reject", "portless", .portless, ""), ("any_port", "", .anyPort, "any_port"),
      ("", "exact", .exact, "as many command-line apps do"), ("any_port", "exact", .exact, "any_port"),
    ])
  func localhost(general: String, own: String, expected: LocalhostPolicy, finding: String) throws {
    let outcome = try FindingCase(
      .invalidValue, "localhost",
      edits: general.isEmpty ? [] : [("mode: enforce", "mode: enforce\n  localhost: \(general)")],
      clients: """
        registration:
          scopes: [mail]
          redirects: { loopback: true\(own.isEmpty ? "" : ", localhost: \(own)") }
          upstream: { client_id: legacy }
        """, expected: ""
    ).load()
    #expect(outcome.policy?.registration?.rules.localhost == expected)
    #expect(finding.isEmpty ? outcome.text.isEmpty : outcome.text.contains(finding), "\(outcome.text)")
  }

  @Test("A registration without limits, an id of a registered client and wrong values are errors")
  func errors() throws {
    let finding = FindingCase(
      .invalidValue, "errors",
      clients: """
        registration:
          path: /token
          redirects: { https: ["*.example.com", EXAMPLE.com, id.example.com], schemes: [cursor, http] }
          upstream: { redirect_uri: requested }
          deny: { names: ["*'*", "*"] }
        clients:
          - id: pg1.abc
            type: public
            redirect_uris: [com.example.mail:/cb]
        """, expected: "")
    let text = try finding.load().text
    for part in [
      "`registration` has no `scopes`", "`https` cannot hold `*.example.com`", "`https` cannot hold `EXAMPLE.com`",
      "`https` cannot hold `id.example.com`, a host of the gateway",
      "scheme `cursor` has no period", "`schemes` cannot hold `http`", "has no `client_id`",
      "`names` cannot hold `*'*`, because", "use `redirect_uri: callback`",
      "path `/token` is another endpoint", "`id` cannot be `pg1.abc`",
    ] {
      #expect(text.contains(part), "\(part) is not in\n\(text)")
    }
  }
}
