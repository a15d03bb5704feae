import Testing
import VectorsTestSupport

@testable import OAuth

@Suite("Redirect URIs")
struct RedirectURITests {
  @Test("Every match vector gets its expected verdict", arguments: Vectors.all.redirectUriMatch.vectors)
  func matchVector(_ vector: Vectors.RedirectMatch) {
    let registered = vector.registered.compactMap { try? RedirectURI(parsing: $0) }
    let isNative = vector.clientType == "native-public"
    var variance: RedirectURI.AllowedVariance = []
    if isNative { variance.insert(.loopbackPort) }
    if isNative, vector.policy.contains("localhost_any_port") { variance.insert(.localhostPort) }
    if isNative, vector.policy.contains("loopback_any_path") { variance.insert(.loopbackPath) }

    let matched: RedirectURI?
    if let text = vector.requested {
      let requested = try? RedirectURI(parsing: text)
      matched = requested.flatMap { uri in
        registered.contains { uri.matches(registered: $0, variance: variance) } ? uri : nil
      }
    } else {
      matched = RedirectURI.defaultURI(registered: registered)
    }
    #expect((matched != nil) == (vector.expected == "match"))
  }

  @Test("Every scheme vector gets its expected verdict", arguments: Vectors.all.privateUseSchemes.vectors)
  func schemeVector(_ vector: Vectors.Scheme) {
    let uri = try? RedirectURI(parsing: vector.uri)
    let isValid =
      switch uri?.kind {
      case .privateUse: uri?.schemeProblem(.strict) == nil
      case .windowsBroker: true
      default: false
      }
    #expect(isValid == vector.expectedValid)
    if vector.expectedValid {
      #expect((uri?.schemeNotes.isEmpty == false) == vector.warn)
    }
  }

  @Test(
    "A URI that readers may parse differently is refused, and the error says why",
    arguments: [
      ("", .empty),
      ("com.example.app:/\u{e9}", .nonASCII),
      ("com.example.app:/cb\u{0}", .controlCharacter),
      ("com.example.app:/cb\n", .controlCharacter),
      ("com.example.app:/c b", .space),
      ("https://a.example\\@b.example/", .backslash),
      ("https://*.example.com/cb", .wildcard),
      ("com.example.app:/{x}", .forbiddenCharacter),
      ("com.example.app:/[x]", .forbiddenCharacter),
      ("com.example.app:/%4", .malformedEscape),
      ("com.example.app:/%zz", .malformedEscape),
      ("com.example.app:/cb%00", .encodedControl),
      ("com.example.app:/cb?x=%0d%0a", .encodedControl),
      ("com.example.app:/%2e%2e/x", .encodedSeparator),
      ("com.example.app:/a%2fb", .encodedSeparator),
      ("com.example.app:/a%5Cb", .encodedSeparator),
      ("com.example.app:/%252e", .encodedSeparator),
      ("com.example.app:/%3bx", .encodedSeparator),
      ("com.example.app:/%c0%ae", .invalidUTF8),
      ("com.example.app:/cb#", .fragment),
      ("https://app.example.com/cb#x", .fragment),
      ("//app.example.com/cb", .relative),
      ("/cb", .relative),
      ("cb", .relative),
      (":/cb", .relative),
      ("1com.example.app:/cb", .schemeSyntax),
      ("com.example.my_app:/cb", .schemeSyntax),
      ("Com.Example.App:/cb", .schemeCase),
      ("HTTPS://app.example.com/cb", .schemeCase),
      ("javascript:/cb", .schemeReserved),
      ("data:/cb", .schemeReserved),
      ("file:///etc/passwd", .schemeReserved),
      ("blob:/cb", .schemeReserved),
      ("about:/blank", .schemeReserved),
      ("intent:/cb", .schemeReserved),
      ("tel:/1", .schemeReserved),
      ("mailto:/a", .schemeReserved),
      ("urn:ietf:wg:oauth:2.0:oob", .schemeReserved),
      ("https://a@b.example/cb", .userinfo),
      ("http://127.0.0.1:80@evil.example/cb", .userinfo),
      ("https://a@b@c.example/cb", .userinfo),
      ("com.example.app:", .incomplete),
      ("com.example.app://", .incomplete),
      ("com.example.app:cb", .rootless),
      ("com.example.app:/a/../b", .dotSegment),
      ("https://app.example.com/./cb", .dotSegment),
      ("https://app.example.com/..;/cb", .pathParameter),
      ("https://app.example.com./cb", .host),
      ("https:///cb", .host),
      ("https:/cb", .host),
      ("https://[::1]/cb", .host),
      ("https://-a.example/cb", .host),
      ("https://a..example/cb", .host),
      ("https://a.example%2eevil/cb", .host),
      ("https://a.example:/cb", .port),
      ("https://a.example:0/cb", .port),
      ("http://127.0.0.1:065/cb", .port),
      ("http://127.0.0.1:65536/cb", .port),
      ("http://127.0.0.1:99999999999999999999/cb", .port),
      ("http://127.0.0.2/cb", .cleartext),
      ("http://127.1/cb", .cleartext),
      ("http://0x7f000001/cb", .cleartext),
      ("http://2130706433/cb", .cleartext),
      ("http://[::ffff:127.0.0.1]/cb", .cleartext),
      ("http://[0:0:0:0:0:0:0:1]/cb", .cleartext),
      ("http://localhost.evil.example/cb", .cleartext),
      ("http://localhost./cb", .cleartext),
      ("http://LOCALHOST/cb", .cleartext),
      ("http://app.example.com/cb", .cleartext),
      ("com.example.app://host:80/cb", .authorityOfPrivateUse),
      ("msapp://callback", .windowsBroker),
      ("msapp:/cb", .windowsBroker),
    ] as [(String, RedirectURIError)])
  func refusal(text: String, error: RedirectURIError) {
    #expect(throws: error) { try RedirectURI(parsing: text) }
  }

  @Test("A URI longer than the limit is refused")
  func tooLong() {
    let text = "com.example.app:/" + String(repeating: "a", count: RedirectURI.maximumLength)
    #expect(throws: RedirectURIError.tooLong) { try RedirectURI(parsing: text) }
  }

  @Test(
    "A URI keeps its text and has the kind of its scheme and host",
    arguments: [
      ("com.example.app:/oauth2redirect/example-provider", .privateUse(scheme: "com.example.app")),
      ("com.example.app://cb", .privateUse(scheme: "com.example.app")),
      ("com.example.app:///cb", .privateUse(scheme: "com.example.app")),
      ("https://App.example.com:8443/cb?x=1&y=a%2Fb", .https(host: "App.example.com")),
      ("https://app.example.com", .https(host: "app.example.com")),
      ("http://127.0.0.1", .loopback(family: .ipv4, port: nil)),
      ("http://127.0.0.1:51004/cb", .loopback(family: .ipv4, port: 51_004)),
      ("http://[::1]:1/cb", .loopback(family: .ipv6, port: 1)),
      ("http://localhost:65535", .localhost(port: 65_535)),
      ("msapp://s-1-15-2-2434-1234-5678", .windowsBroker),
      ("ms-app://s-1-15-2-2434-1234-5678/", .windowsBroker),
    ] as [(String, RedirectURI.Kind)])
  func accepted(text: String, kind: RedirectURI.Kind) throws {
    let uri = try RedirectURI(parsing: text)
    #expect(uri.text == text)
    #expect(uri.kind == kind)
  }

  @Test("Path and query are the parts after the host")
  func pathAndQuery() throws {
    let uri = try RedirectURI(parsing: "http://127.0.0.1:80/a/b?c=d?e")
    #expect(uri.path == "/a/b")
    #expect(uri.query == "c=d?e")
    #expect(try RedirectURI(parsing: "http://127.0.0.1").path.isEmpty)
    #expect(try RedirectURI(parsing: "com.example.app:/cb").query == nil)
  }

  @Test("8252-7.3-any-port: a client without the native variance must use the registered port")
  func webClientsHaveNoPortFreedom() throws {
    let registered = try RedirectURI(parsing: "http://127.0.0.1:8080/cb")
    let requested = try RedirectURI(parsing: "http://127.0.0.1:9090/cb")
    #expect(requested.matches(registered: registered, variance: .loopbackPort))
    #expect(!requested.matches(registered: registered, variance: []))
    #expect(!requested.matches(registered: registered, variance: .localhostPort))
  }

  @Test("8252-8.3-localhost-no-alias: localhost and a loopback address never match each other")
  func localhostIsNoAlias() throws {
    let literal = try RedirectURI(parsing: "http://127.0.0.1/cb")
    let name = try RedirectURI(parsing: "http://localhost/cb")
    let variance: RedirectURI.AllowedVariance = [.loopbackPort, .localhostPort, .loopbackPath]
    #expect(!name.matches(registered: literal, variance: variance))
    #expect(!literal.matches(registered: name, variance: variance))
  }

  @Test("The minimum profile requires a period in the scheme and nothing else")
  func minimumProfile() throws {
    #expect(try RedirectURI(parsing: "msauth.com.example.app://auth").schemeProblem(.minimum) == nil)
    #expect(try RedirectURI(parsing: "local.myapp:/cb").schemeProblem(.minimum) == nil)
    #expect(try RedirectURI(parsing: "local.myapp:/cb").schemeProblem(.strict) == .notReversedDomain)
    #expect(try RedirectURI(parsing: "myapp:/cb").schemeProblem(.minimum) == .noPeriod)
  }

  @Test("The first difference is an offset in bytes, for a prefix its length")
  func firstDifference() {
    #expect(RedirectURI.firstDifference("abc", "abd") == 2)
    #expect(RedirectURI.firstDifference("abc", "abcd") == 3)
    #expect(RedirectURI.firstDifference("abc", "abc") == nil)
    #expect(RedirectURI.firstDifference("", "x") == 0)
  }

  @Test("A private-use scheme gives the domain that it claims")
  func claimedDomain() throws {
    #expect(try RedirectURI(parsing: "com.example.app:/cb").claimedDomain == "example.com")
    #expect(try RedirectURI(parsing: "https://a.example/").claimedDomain == nil)
  }

  @Test("Every error says what to do without repeating the input", arguments: RedirectURIError.allCases)
  func errorText(_ error: RedirectURIError) {
    #expect(error.description.first?.isUppercase == false)
    #expect(error.description.contains(":"))
    #expect(!error.description.contains("\n"))
  }
}
