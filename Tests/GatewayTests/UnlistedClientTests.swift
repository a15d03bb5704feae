import GatewayTestSupport
import OAuth
import Policy
import Testing

/// The rules for clients that the policy does not list, without a gateway.
@Suite("Unlisted clients")
struct UnlistedClientTests {
  private static func rules() -> UnlistedClientRules {
    var rules = UnlistedClientRules()
    rules.scopes = ["read"]
    rules.redirects.anyHost = true
    rules.redirects.loopback = true
    return rules
  }

  private static func isDenied(_ name: String, by patterns: [String]) throws -> Bool {
    var rules = rules()
    rules.denied.names = patterns
    let metadata = ClientMetadata(
      name: name, applicationType: .native, redirectURIs: [try RedirectURI(parsing: "http://127.0.0.1/cb")])
    return rules.client(ClientID("pg1.a"), metadata) == nil
  }

  @Test(
    "A denied name is recognised with other letter case, with marks in either form, and in full width",
    arguments: [
      "Evil App", "EVIL", "E\u{301}vil", "\u{c9}vil", "Evi\u{307}l", "\u{ff25}\u{ff56}il", "Ev\u{130}l",
      "E\u{305}\u{316}vil",
      "Evi\u{308}\u{301}l", "\u{1ebf}vil", "evi\u{20dd}l",
    ])
  func deniedNames(_ name: String) throws {
    #expect(try Self.isDenied(name, by: ["Evil*"]))
    #expect(try Self.isDenied(name, by: ["e\u{301}VIL*"]))
    #expect(try !Self.isDenied(name, by: ["Evils", "vil*"]))
  }

  @Test(
    "A denied name is recognised with other kinds of spaces, dashes and quotation marks",
    arguments: [
      "Evil  App", "Evil-App", "Evil\u{2013}App", "Evil \u{2212} App", "Evil_App", "Evil\u{2d7}App", "Evil\u{30a0}App",
      "Ev'il App", "Evil App\u{2019}", "\u{2bb}Evil App", "\u{2e0c}Evil App", "Ev`il\u{ff0d}App",
    ])
  func deniedSpacing(_ name: String) throws {
    for pattern in ["Evil App", "evil\u{2014}app", "\"Evil\u{a0}App\"", "Evi\u{200b}l - App", "Evil *"] {
      #expect(try Self.isDenied(name, by: [pattern]), "\(pattern)")
    }
    #expect(try !Self.isDenied(name, by: ["EvilApp", "Evil"]))
  }

  @Test("A pattern of which nothing but asterisks is compared matches every name, as one asterisk does")
  func universalPatterns() {
    for pattern in ["*'*", "*\u{301}", "\u{201c}*\u{201d}", "**"] {
      #expect(ClientDenyList.matchesEveryName(pattern), "\(pattern)")
    }
    for pattern in ["*", "* *", "*a*", "-"] { #expect(!ClientDenyList.matchesEveryName(pattern), "\(pattern)") }
  }

  @Test("Names with other letters than a denied one are not denied, and patterns match complete names")
  func otherNames() throws {
    for name in ["Devil", "Ewil", "\u{3b5}vil", "Evi"] { #expect(try !Self.isDenied(name, by: ["Evil*"]), "\(name)") }
    #expect(
      try Self.isDenied(
        "\u{3a3}\u{399}\u{393}\u{39c}\u{391}\u{3a3}", by: ["\u{3c3}\u{3b9}\u{3b3}\u{3bc}\u{3b1}\u{3c2}"]))
    #expect(try Self.isDenied("Caf\u{e9} Stra\u{df}e", by: ["*cafe\u{301} STRASSE"]))
  }

  @Test(
    "A redirect URI with a parameter of a response is refused in every spelling that an app may read",
    arguments: [
      "code=x", "Code=x", "CODE=x", "a;code=x", "a=b;Code=x", "a;STATE=x", "a=b;%49ss=x", "co%64e", "x&Error=a",
      "id_token=x", "ID_Token=x", "a;Access_Token=x", "response=x", "Refresh_token=x", "code%5B%5D=x",
    ])
  func responseParameters(_ query: String) throws {
    for base in ["http://127.0.0.1/cb", "https://app.example.com/cb"] {
      #expect(!Self.rules().permits(try RedirectURI(parsing: "\(base)?\(query)"), .native), "\(query)")
    }
  }

  @Test(
    "Without a list of hosts, an https redirect URI has the name of a host: no address in any spelling, no loopback name",
    arguments: [
      "192.0.2.7", "3221225991", "0xc0000207", "0300.0.2.7", "192.0.519", "192.0.2.07", "127.1", "1.0x7f", "localhost",
      "LOCALHOST", "x.localhost", "localhost.",
    ])
  func addresses(_ host: String) throws {
    guard let uri = try? RedirectURI(parsing: "https://\(host):8443/cb") else { return }
    var rules = Self.rules()
    #expect(!rules.permits(uri, .native), "\(host)")
    rules.redirects.hosts = [host]
    #expect(rules.permits(uri, .native), "\(host)")
    rules.denied.loopback = true
    let isDenied = rules.client(ClientID("pg1.a"), ClientMetadata(applicationType: .native, redirectURIs: [uri])) == nil
    #expect(isDenied == host.lowercased().contains("localhost"))
  }

  private static func policy(https hosts: [String]?) throws -> Policy {
    try FixturePolicy.with { fixture in
      fixture.gateway.issuer = "https://Issuer.example/tenant"
      var registration = RegistrationSettings()
      registration.rules = rules()
      registration.rules.redirects.anyHost = hosts == nil
      registration.rules.redirects.hosts = hosts ?? []
      fixture.registration = registration
      var documents = ClientDocumentSettings()
      documents.urls = ["https://gw.example/"]
      documents.rules = registration.rules
      fixture.clientDocuments = documents
    }
  }

  @Test(
    "No https redirect URI is on the host of the gateway or of its issuer, whatever hosts the policy permits",
    arguments: [nil, [".example"], ["gw.example", "issuer.example"], [".gw.example", "issuer.example."]])
  func ownHosts(_ hosts: [String]?) throws {
    let policy = try Self.policy(https: hosts)
    for rules in [policy.registration?.rules, policy.clientDocuments?.rules] {
      let rules = try #require(rules)
      for host in ["gw.example", "gw.example:8443", "issuer.example"] {
        let uri = try RedirectURI(parsing: "https://\(host)/login?next=https%3A%2F%2Fevil.example")
        for type in ClientMetadata.ApplicationType.allCases { #expect(!rules.permits(uri, type), "\(host)") }
      }
      for host in ["GW.example", "gw.example."] {
        // The parser of redirect URIs may refuse such a spelling.
        guard let uri = try? RedirectURI(parsing: "https://\(host)/login") else { continue }
        #expect(!rules.permits(uri, .web), "\(host)")
      }
      let below = try RedirectURI(parsing: "https://app.gw.example/cb")
      #expect(rules.permits(below, .web) == (hosts?.contains("gw.example") != true))
    }
  }

  @Test("A client with a document on the gateway's own host has no redirect URI there")
  func ownDocument() throws {
    let settings = try #require(try Self.policy(https: []).clientDocuments)
    let url = try #require(ClientDocumentURL(parsing: "https://gw.example/client.json"))
    let uri = try RedirectURI(parsing: "https://gw.example/login")
    #expect(settings.client(url, ClientMetadata(applicationType: .web, redirectURIs: [uri])) == nil)
  }

  @Test("A gateway on a loopback address shares its host with other programs, so it has none of its own")
  func loopbackGateway() throws {
    var gateway = try FixturePolicy(origin: Origin(scheme: .https, host: "localhost", port: 8443)).gateway
    #expect(gateway.hosts.isEmpty)
    gateway.origin = Origin(scheme: .https, host: "gw.example")
    #expect(gateway.hosts.contains("gw.example"))
  }

  @Test("A name has at most three marks on a letter, and does not begin with one")
  func marks() {
    #expect(ClientMetadata.isDisplayable("Vie\u{323}\u{302}t"))
    #expect(ClientMetadata.isDisplayable("a\u{323}\u{302}\u{301}b"))
    #expect(!ClientMetadata.isDisplayable("a\u{323}\u{323}\u{323}\u{323}"))
    #expect(!ClientMetadata.isDisplayable("\u{301}a"))
    #expect(!ClientMetadata.isDisplayable("a\u{20dd}\u{20dd}\u{20dd}\u{20dd}"))
  }

  @Test(
    "A name has no quotation mark, no look-alike of one, and no character without a glyph",
    arguments: [
      "\"", "\u{201c}", "\u{201d}", "\u{201e}", "\u{201f}", "\u{ab}", "\u{bb}", "\u{2039}", "\u{2018}", "\u{300d}",
      "\u{301e}", "\u{ff02}", "\u{2ba}", "\u{2033}", "\u{275e}", "\u{1f677}", "''", "\u{2019}\u{2019}",
      "'\u{2032}", "``", "\u{b4}\u{b4}", "\u{2b9}\u{2b9}", "\u{2bb}'", "\u{2bd}\u{2bd}", "\u{5f4}", "\u{2e02}",
      "\u{2e1d}", "\u{2e21}", "\u{ff40}\u{ff07}", "\u{1d159}", "\u{13441}", "\u{13442}", "\u{2800}", "\u{fffc}",
    ])
  func quotes(_ text: String) throws {
    for name in [text, "Mail\(text)", "Mail\(text) checked by Example Bank"] {
      #expect(!ClientMetadata.isDisplayable(name), "\(name)")
      // A client that an earlier version registered with this name has none.
      let uri = try RedirectURI(parsing: "http://127.0.0.1/cb")
      let metadata = ClientMetadata(name: name, applicationType: .native, redirectURIs: [uri])
      let client = try #require(Self.rules().client(ClientID("pg1.a"), metadata))
      #expect(client.name == nil)
    }
  }

  @Test(
    "A name may have apostrophes, and other letters and symbols",
    arguments: ["Bob\u{2019}s Mail", "Hawai\u{2bb}i Mail", "L'app d'Eve", "C++ (\u{3b2}) \u{2116}1 \u{1f600}"])
  func apostrophes(_ name: String) {
    #expect(ClientMetadata.isDisplayable(name))
  }

  @Test(
    "Other parameters of a redirect URI are permitted", arguments: ["x=code", "codec=x", "a;b=c", "tenant=1&Lang=en"])
  func otherParameters(_ query: String) throws {
    #expect(Self.rules().permits(try RedirectURI(parsing: "http://127.0.0.1/cb?\(query)"), .native))
  }
}
