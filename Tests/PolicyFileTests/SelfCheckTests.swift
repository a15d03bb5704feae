import OAuth
import Policy
import PolicyFile
import Testing

@Suite("RFC 8252 self-check and reports")
struct SelfCheckTests {
  @Test("A valid policy meets all five points (8252-A-selfcheck)")
  func met() throws {
    let check = try PolicyFolder.load(FindingCase.base).selfCheck
    #expect(check.isMet)
    #expect(check.items.map(\.number) == [1, 2, 3, 4, 5])
    #expect(check.items.first?.description == "1. private-use scheme redirect URIs: met")
  }

  @Test("Disabled loopback redirect URIs fail point 3 (8252-A-selfcheck)")
  func loopbackOff() throws {
    let text = FindingCase.base + "  redirects: [private_use, claimed_https]\n"
    let check = try PolicyFolder.load(text).selfCheck
    #expect(!check.isMet)
    #expect(check.items.filter { !$0.isMet }.map(\.number) == [3])
    #expect(check.items[2].description == "3. loopback redirect URIs on any port: failed, `redirects` lacks `loopback`")
  }

  @Test(
    "A policy that refuses nothing fails point 5",
    arguments: ["mode: observe", "mode: enforce\n  unknown_clients: observe"])
  func unenforced(_ setting: String) throws {
    let text = FindingCase.base.split(separator: "mode: enforce").joined(separator: setting)
    #expect(try PolicyFolder.load(text).selfCheck.items.filter { !$0.isMet }.map(\.number) == [5])
  }

  @Test("A native client that is only observed fails point 5")
  func nativeClientInObserveMode() throws {
    func failures(_ settings: String) throws -> [String?] {
      let uris = "redirect_uris: [com.example.a:/callback, 'http://127.0.0.1/a']"
      let text = FindingCase.base + "clients:\n  - { id: a, type: public, \(settings)\(uris) }\n"
      return try PolicyFolder.load(text).selfCheck.items.compactMap(\.failure)
    }
    #expect(try failures("mode: observe, ") == ["native client `a` is only observed"])
    #expect(try failures("") == [])
  }

  @Test("A confidential native app fails point 4, and a policy with errors meets no point")
  func errors() throws {
    let text =
      FindingCase.base
      + "clients:\n  - { id: a, type: confidential, application: native, redirect_uris: [com.example.a:/callback] }\n"
    let check = try PolicyFolder.load(text).selfCheck
    #expect(check.items[3].failure == "a native app is recorded as confidential")
    #expect(check.items.allSatisfy { !$0.isMet })
  }

  @Test("Schemes are listed with the domains that they claim (7595-3.8-domain-lapse)")
  func domains() throws {
    let text =
      FindingCase.base + """
        clients:
          - { id: n1, type: public, redirect_uris: [com.example.app:/cb] }
          - { id: n2, type: public, redirect_uris: [org.example.other:/cb, com.example.app:/n2] }

        """
    let policy = try #require(try PolicyFolder.load(text).policy)
    #expect(
      policy.schemeDomains.map(\.description) == [
        "com.example.app claims example.com (n1, n2)", "org.example.other claims example.org (n2)",
      ])
  }

  @Test("One redirect URI at two authorization servers is reported if both are checked (8252-8.10-unique-redirect)")
  func between() throws {
    let client = "clients:\n  - { id: a, type: public, redirect_uris: [com.example.app:/cb] }\n"
    let other = FindingCase.base.split(separator: "id.example.com").joined(separator: "id.example.org")
    let folder = try PolicyFolder([
      "one.yaml": FindingCase.base + client, "two.yaml": other + client, "keys": "k1\n",
    ])
    defer { folder.remove() }
    let paths = [folder.path + "/one.yaml", folder.path + "/two.yaml"]
    let check = PolicyFile.check(paths: paths, PolicySources(environment: [:]))
    #expect(check.outcomes.allSatisfy { !$0.diagnostics.hasErrors })
    #expect(
      folder.lines(check.conflicts) == """
        two.yaml:13:44: warning: client `a` has redirect URI `com.example.app:/cb` here and with issuer \
        `https://id.example.com` in `one.yaml`; an app needs one per authorization server (RFC 8252, section 8.10) \
        [shared-redirect-uri]
        """)
    #expect(
      PolicyFile.check(paths: [paths[0], paths[0]], PolicySources(environment: [:])).conflicts == [])
  }

  @Test("The summary counts by severity")
  func summary() throws {
    let text =
      FindingCase.base + """
          state: off
          colour: blue
          unknown_clients: [x]
        clients:
          - { id: a, type: public, redirect_uris: ['http://127.0.0.1'] }

        """
    #expect(try PolicyFolder.load(text).diagnostics.summary == "2 errors, 3 warnings, 2 notes")
  }
}
