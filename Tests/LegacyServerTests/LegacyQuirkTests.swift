import Demo
import HTTP
import LegacyServer
import OAuth
import Testing

@Suite("Quirks of real legacy servers")
struct LegacyQuirkTests {
  private static func fixture(_ adjust: (inout LegacyQuirks) -> Void) -> LegacyFixture {
    LegacyFixture(.with(adjust))
  }

  @Test("A strict server refuses a challenge and drops the state")
  func strict() async throws {
    let fixture = Self.fixture { $0.refusesPKCEParameters = true }
    #expect(try await fixture.answer { $0.append("code_challenge", "x") } == ["error": "invalid_request"])
    let code = try #require(try await fixture.answer()["code"])
    let form: Form = [
      "grant_type": "authorization_code", "code": code, "redirect_uri": LegacyFixture.redirectURI, "code_verifier": "v",
    ]
    #expect(NativeApp.error(in: fixture.token(form)) == "invalid_request")
  }

  @Test("Without the strict quirk PKCE parameters are ignored")
  func ignored() async throws {
    let fixture = LegacyFixture()
    let code = try #require(try await fixture.answer { $0.append("code_challenge", "x") }["code"])
    #expect(fixture.redeem(code).status == 200)
  }

  @Test("A server that verifies PKCE needs the verifier for a code with a challenge, and none for other codes")
  func verifying() async throws {
    let fixture = Self.fixture { $0.verifiesPKCE = true }
    let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    for (sent, status) in [(verifier, 200), (String(repeating: "a", count: 43), 400), (nil, 400)] as [(String?, Int)] {
      let answer = try await fixture.answer {
        $0.append("code_challenge", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
        $0.append("code_challenge_method", "S256")
      }
      var form: Form = [
        "grant_type": "authorization_code", "code": try #require(answer["code"]),
        "redirect_uri": LegacyFixture.redirectURI,
      ]
      if let sent { form.append("code_verifier", sent) }
      #expect(fixture.token(form).status == status)
    }
    #expect(fixture.redeem(try #require(try await fixture.answer()["code"])).status == 200)
  }

  @Test("Errors can be pages with status 200 and no redirect")
  func errorPages() async throws {
    var browser = Self.fixture { $0.errorsAsPages = true }.browser
    let stop = try await DemoUser(answer: .deny).signIn(in: &browser, from: LegacyFixture.authorization())
    let page = try #require(stop.page)
    #expect(page.status == 200)
    #expect(page.text.contains("access_denied"))
  }

  @Test("Errors can go to unregistered redirect URIs")
  func errorsAnywhere() async throws {
    var browser = Self.fixture { $0.redirectsErrorsAnywhere = true }.browser
    let stop = try await browser.open(LegacyFixture.authorization { $0.set("redirect_uri", "evil:/x") })
    let delivery = try #require(stop.delivery)
    #expect(delivery.address.hasPrefix("evil:/x?error=invalid_request"))
  }

  @Test("A remembered consent gives a code without a question")
  func remembered() async throws {
    var browser = Self.fixture { $0.remembersConsent = true }.browser
    _ = try await DemoUser().signIn(in: &browser, from: LegacyFixture.authorization())
    let delivery = try #require(try await browser.open(LegacyFixture.authorization()).delivery)
    #expect(delivery.parameters["code"] != nil)
  }

  @Test("A state that is too long gives an internal error")
  func stateLimit() async throws {
    var browser = Self.fixture { $0.stateLimit = 8 }.browser
    let page = try #require(try await browser.open(LegacyFixture.authorization { $0.set("state", "123456789") }).page)
    #expect(page.status == 500)
  }

  @Test("Token responses can be form-encoded, with commas between scopes")
  func formEncoded() async throws {
    let fixture = Self.fixture {
      $0.tokenFormat = .form
      $0.commaSeparatedScopes = true
    }
    let code = try #require(try await fixture.answer()["code"])
    let answer = Form(decoding: fixture.redeem(code).text)
    #expect(answer["token_type"] == "bearer")
    #expect(answer["scope"] == "read,write")
    #expect(Form(decoding: fixture.redeem("x").text) == ["error": "invalid_grant"])
  }

  @Test("Token errors can have status 200 and other member names")
  func odd() {
    let fixture = Self.fixture {
      $0.tokenErrorsAre200 = true
      $0.tokenErrorName = "error_message"
      $0.badCodeError = "invalid_code"
    }
    let response = fixture.redeem("x")
    #expect(response.status == 200)
    #expect(response.text == #"{"error_message":"invalid_code"}"#)
  }

  @Test("Tokens over GET are given only with the quirk")
  func overGET() async throws {
    for isOn in [true, false] {
      let fixture = Self.fixture { $0.tokensOverGET = isOn }
      let form: Form = [
        "grant_type": "authorization_code", "code": try #require(try await fixture.answer()["code"]),
        "redirect_uri": LegacyFixture.redirectURI, "client_id": LegacyFixture.client.id,
        "client_secret": LegacyFixture.client.secret.reveal(),
      ]
      let request = Request(method: "GET", target: form.added(to: "/token"))
      #expect(fixture.server.respond(to: request, now: LegacyFixture.now).status == (isOn ? 200 : 405))
    }
  }

  @Test("Redirects can be absolute, built from Host")
  func absolute() {
    let fixture = Self.fixture { $0.absoluteRedirects = true }
    let request = Request(
      method: "GET", target: LegacyFixture.authorization().target, headers: ["Host": "legacy.test:9000"])
    let location = fixture.server.respond(to: request, now: LegacyFixture.now).headers["Location"]
    #expect(location?.hasPrefix("http://legacy.test:9000/login?next=%2Fauthorize") == true)
  }

  @Test("A rotated refresh token works once")
  func rotation() async throws {
    let fixture = Self.fixture { $0.rotatesRefreshTokens = true }
    let code = try #require(try await fixture.answer()["code"])
    let first = try #require(NativeApp.tokens(in: fixture.redeem(code))?.refreshToken).reveal()
    let form: Form = ["grant_type": "refresh_token", "refresh_token": first]
    #expect(NativeApp.tokens(in: fixture.token(form))?.refreshToken?.reveal() != first)
    #expect(NativeApp.error(in: fixture.token(form)) == "invalid_grant")
  }
}
