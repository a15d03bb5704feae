import Demo
import FoundationEssentials
import HTTP
import LegacyServer
import OAuth
import Testing
import Time

@Suite("The legacy server, complete flows in memory")
struct LegacyFlowTests {
  @Test("Login, consent, code and token lead to the protected resource")
  func wholeFlow() async throws {
    let fixture = LegacyFixture()
    let answer = try await fixture.answer()
    #expect(answer["state"] == "s 1&\"<")
    let code = try #require(answer["code"])
    #expect(code.utf8.count >= 32)
    let tokens = try #require(NativeApp.tokens(in: fixture.redeem(code)))
    #expect(tokens.scope == "read write")
    #expect(fixture.me(tokens.accessToken.reveal()).text.contains("\"user\":\"alice\""))
  }

  @Test("If the user denies consent, the app gets access_denied and its state")
  func denial() async throws {
    let answer = try await LegacyFixture().answer(user: DemoUser(answer: .deny))
    #expect(answer == ["error": "access_denied", "state": "s 1&\"<"])
  }

  @Test("A wrong password does not sign in")
  func wrongPassword() async throws {
    let fixture = LegacyFixture()
    var browser = fixture.browser
    let stop = try await DemoUser(password: "wrong").signIn(in: &browser, from: LegacyFixture.authorization())
    let page = try #require(stop.page)
    #expect(page.text.contains("wrong"))
  }

  @Test("A code works once, for its redirect URI and its client, and for ten minutes")
  func codes() async throws {
    let fixture = LegacyFixture()
    let once = try #require(try await fixture.answer()["code"])
    #expect(fixture.redeem(once).status == 200)
    #expect(NativeApp.error(in: fixture.redeem(once)) == "invalid_grant")

    let elsewhere = try #require(try await fixture.answer()["code"])
    let form: Form = ["grant_type": "authorization_code", "code": elsewhere, "redirect_uri": "https://other.test/"]
    #expect(fixture.token(form).status == 400)

    let late = try #require(try await fixture.answer()["code"])
    #expect(fixture.redeem(late, now: LegacyFixture.now + 600).status == 400)
  }

  @Test("Unknown clients and unregistered redirect URIs are refused on a page")
  func pages() async throws {
    for adjust in [
      { (form: inout Form) in form.set("client_id", "nobody") },
      { $0.set("redirect_uri", "com.example.mail:/cb") },
      { $0.set("redirect_uri", LegacyFixture.redirectURI + "/") },
    ] {
      var browser = LegacyFixture().browser
      let page = try #require(try await browser.open(LegacyFixture.authorization(adjust)).page)
      #expect(page.status == 400)
    }
  }

  @Test("Other response types are refused at the redirect URI")
  func responseType() async throws {
    var browser = LegacyFixture().browser
    let stop = try await browser.open(LegacyFixture.authorization { $0.set("response_type", "token") })
    let delivery = try #require(stop.delivery)
    #expect(delivery.parameters["error"] == "unsupported_response_type")
  }

  @Test("The consent form repeats the request in hidden fields and posts to the same path")
  func consentForm() async throws {
    var browser = LegacyFixture().browser
    let login = try #require(try await browser.open(LegacyFixture.authorization()).page)
    let form = try #require(login.forms.first)
    let values = ["username": "alice", "password": "wonderland"]
    let consent = try #require(try await browser.submit(form, on: login, values).page)
    let question = try #require(consent.forms.first)
    #expect(question.action == "/authorize")
    #expect(question.method == "POST")
    #expect(question.submission()["state"] == "s 1&\"<")
    #expect(question.submission()["redirect_uri"] == LegacyFixture.redirectURI)
    #expect(consent.text.contains("Legacy <Mail>"))
    #expect(!consent.html.contains("<Mail>"))
  }

  @Test(
    "Clients authenticate by the configured method",
    arguments: [
      (LegacyConfiguration.Authentication.basic, 200, 401, 401), (.post, 401, 200, 200), (.any, 200, 200, 401),
    ])
  func authentication(way: LegacyConfiguration.Authentication, basic: Int, post: Int, both: Int) async throws {
    let fixture = LegacyFixture(authentication: way)
    let client = LegacyFixture.client
    let userinfo = Form([Form.Field(name: client.id, value: client.secret.reveal())]).encoded.split(separator: "=")
    let credentials = Data("\(userinfo[0]):\(userinfo[1])".utf8).base64EncodedString()
    let field: Headers = ["Authorization": "Basic \(credentials)"]
    for (status, headers, isPosted) in [(basic, field, false), (post, Headers(), true), (both, field, true)] {
      let code = try #require(try await fixture.answer()["code"])
      var form: Form = ["grant_type": "authorization_code", "code": code, "redirect_uri": LegacyFixture.redirectURI]
      if isPosted {
        form.append("client_id", client.id)
        form.append("client_secret", client.secret.reveal())
      }
      let response = fixture.post("/token", form, headers: headers)
      // With both given, a server for one method checks only that one.
      let expected = way == .basic && isPosted && headers.contains("Authorization") ? 200 : status
      #expect(response.status == expected)
    }
  }

  @Test("A refresh token gives access tokens until it is revoked")
  func refreshAndRevoke() async throws {
    let fixture = LegacyFixture()
    let code = try #require(try await fixture.answer()["code"])
    let refresh = try #require(NativeApp.tokens(in: fixture.redeem(code))?.refreshToken).reveal()
    let form: Form = ["grant_type": "refresh_token", "refresh_token": refresh]
    let second = try #require(NativeApp.tokens(in: fixture.token(form)))
    #expect(second.refreshToken?.reveal() == refresh)
    #expect(fixture.me(second.accessToken.reveal()).status == 200)
    let client = LegacyFixture.client
    let revocation: Form = ["token": refresh, "client_id": client.id, "client_secret": client.secret.reveal()]
    #expect(fixture.post("/revoke", revocation).status == 200)
    #expect(NativeApp.error(in: fixture.token(form)) == "invalid_grant")
  }

  @Test("The resource answers 401 without a valid token")
  func resource() {
    let response = LegacyFixture().me("made-up")
    #expect(response.status == 401)
    #expect(response.headers.contains("WWW-Authenticate"))
  }

  @Test(
    "After the login only paths of the server itself are followed",
    arguments: [
      "https://evil.test/", "//evil.test/", "/\\evil.test/", "/a\r\nX: 1",
    ])
  func openRedirect(next: String) {
    let response = LegacyFixture().post(
      "/login", ["username": "alice", "password": "wonderland", "next": next])
    #expect(response.headers["Location"] == "/")
  }

  @Test("Every request is recorded, and the record is limited")
  func recorder() {
    let fixture = LegacyFixture()
    for number in 0..<300 {
      _ = fixture.server.respond(to: Request(method: "GET", target: "/?n=\(number)"), now: LegacyFixture.now)
    }
    let recorder = fixture.server.recorder
    #expect(recorder.count == 300)
    #expect(recorder.requests.map(\.target) == (44..<300).map { "/?n=\($0)" })
    recorder.reset()
    #expect(recorder.count == 0)
  }

  @Test("A thousand flows leave no more entries than the limit")
  func bounded() async throws {
    let fixture = LegacyFixture(tableLimit: 50)
    for _ in 0..<1000 {
      let code = try #require(try await fixture.answer()["code"])
      #expect(fixture.redeem(code).status == 200)
    }
    #expect(fixture.server.recordCount <= 250)
  }
}
