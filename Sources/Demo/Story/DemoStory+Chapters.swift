internal import ByteText
import Cryptography
import HTTP
import LegacyServer
import OAuth

extension DemoStory {
  func tellSuccess(_ step: inout DemoStep) async throws {
    let attempt = cast.app.start()
    step.say("app", "opens " + DemoTranscript.line(address: attempt.url.description))
    let code = try await signIn(attempt, by: cast.app, &step)
    let response = try await redeem(code, attempt.verifier, by: cast.app, as: "app", &step)
    guard let tokens = NativeApp.tokens(in: response) else { throw UnmetExpectation("a token for the app") }
    let user = try await useToken(tokens.accessToken, &step)
    step.conclude(user.status == 200, "the legacy server accepts the app's token")
  }

  func tellNoChallenge(_ step: inout DemoStep) async throws {
    let contactsBefore = contactCount
    let attempt = cast.app.start { parameters in
      parameters.remove("code_challenge")
      parameters.remove("code_challenge_method")
    }
    step.say("app", "opens " + DemoTranscript.line(address: attempt.url.description))
    var browser = browser(for: cast.app)
    let stop = try await browser.open(attempt.url)
    step.say("gateway", describe(stop, browser))
    guard case .app(let answer) = stop else { throw UnmetExpectation("an error redirect to the app") }
    let isRight =
      answer.parameters["error"] == "invalid_request" && answer.parameters["state"] == attempt.state
      && answer.parameters["code"] == nil
    step.conclude(isRight && contactCount == contactsBefore, "the app learns why" + contactNote)
  }

  func tellStolenCode(_ step: inout DemoStep) async throws {
    let attempt = cast.app.start()
    let code = try await signIn(attempt, by: cast.app)
    step.say("thief", "has intercepted the app's code: code=\(code.reveal().prefix(6))…")
    let contactsBefore = contactCount
    let guess = Secret(Base64URL.encode(randomBytes(32)))
    let guessed = try await redeem(code, guess, by: cast.app, as: "thief", &step)
    let other = try await redeem(code, guess, by: cast.otherApp, as: "thief", &step)
    let thiefMadeNoContact = contactCount == contactsBefore
    step.say("app", "redeems the same code with its own verifier")
    let own = try await redeem(code, attempt.verifier, by: cast.app, as: "app", &step)
    let isRight =
      [guessed, other].allSatisfy { $0.status == 400 && NativeApp.error(in: $0) == "invalid_grant" }
      && NativeApp.tokens(in: own) != nil
    step.conclude(
      isRight && thiefMadeNoContact, "no token for the thief, and the app still gets its own" + thiefContactNote)
  }

  func tellWrongRedirectURI(_ step: inout DemoStep) async throws {
    let contactsBefore = contactCount
    let attempt = cast.app.start { $0.set("redirect_uri", "https://attacker.example/callback") }
    step.say("thief", "opens " + DemoTranscript.line(address: attempt.url.description))
    var browser = browser(for: cast.app)
    // The browser takes this URI for the app's. A redirect to it would end as `.app` below, and no request would be
    // sent to attacker.example.
    browser.appRedirectURI = "https://attacker.example/callback"
    let stop = try await browser.open(attempt.url)
    step.say("gateway", describe(stop, browser))
    guard case .page(let page) = stop else { throw UnmetExpectation("a page, and no redirect to the attacker") }
    step.conclude(
      page.status == 400 && contactCount == contactsBefore,
      "the user sees a page, and nothing is redirected" + contactNote)
  }

  func tellReplay(_ step: inout DemoStep) async throws {
    let attempt = cast.app.start()
    let code = try await signIn(attempt, by: cast.app)
    let first = try await redeem(code, attempt.verifier, by: cast.app, as: "app", &step)
    let redemptions = cast.recorder?.requests(to: "/token").count ?? 0
    let second = try await redeem(code, attempt.verifier, by: cast.app, as: "app", &step)
    let isRight =
      NativeApp.tokens(in: first) != nil && second.status == 400 && NativeApp.error(in: second) == "invalid_grant"
    let isSecondNotForwarded = cast.recorder.map { $0.requests(to: "/token").count == redemptions } ?? true
    step.conclude(
      isRight && isSecondNotForwarded,
      "the second use is refused, and the tokens of the first are revoked at the legacy server")
  }

  /// Shows that the legacy server, without the gateway, refuses a native app's redirect URI. Also shows that a thief
  /// can redeem the code of an app that uses the one client registered there, because its secret ships with every copy
  /// of the app.
  func tellLegacyAlone(_ step: inout DemoStep) async throws {
    let direct = NativeApp.Server(
      authorizationEndpoint: cast.legacy.at("/authorize"), tokenEndpoint: cast.legacy.at("/token"), issuer: nil)
    var app = cast.app
    app.clientID = cast.legacyClient.id
    app.server = direct
    let firstAttempt = app.start()
    step.say("app", "opens " + DemoTranscript.line(address: firstAttempt.url.description))
    var browser = browser(for: app)
    let refusal = try await browser.open(firstAttempt.url)
    step.say("legacy", describe(refusal, browser))
    guard case .page(let page) = refusal, page.status == 400 else {
      throw UnmetExpectation("the legacy server to refuse the app's redirect URI")
    }

    app.redirectURI = cast.legacyClient.redirectURI
    let attempt = app.start()
    step.say("app", "tries the one registered redirect URI instead, and the user signs in")
    let code = try await signIn(attempt, by: app)
    step.say("thief", "has the code, no verifier, and the secret that ships in every copy of the app")
    let secret = cast.legacyClient.secret.reveal()
    let request = app.tokenRequest(code: code, verifier: Secret("")) { parameters in
      parameters.remove("code_verifier")
      parameters.append("client_secret", secret)
    }
    let response = try await exchange(request, at: direct.tokenEndpoint, from: "thief", to: "legacy", &step)
    step.conclude(
      NativeApp.tokens(in: response) != nil,
      "no native app can sign in with its own redirect URI, and a stolen code is as good as a token")
  }
}

extension DemoStory {
  /// The number of requests that have reached the legacy server; 0 if they are not recorded.
  private var contactCount: Int { cast.recorder?.count ?? 0 }

  /// The statement that the legacy server got no request; empty if the requests are not recorded.
  private var contactNote: String {
    cast.recorder == nil ? "" : "; the legacy server was contacted 0 times"
  }

  private var thiefContactNote: String {
    cast.recorder == nil ? "" : "; no request of the thief reached the legacy server"
  }

  private func browser(for app: NativeApp) -> DemoBrowser {
    var browser = DemoBrowser(appRedirectURI: app.redirectURI, send: send)
    browser.keepsLog = true
    return browser
  }

  /// Signs the user in with a new browser. Returns the code, after the app has checked the response.
  private func signIn(
    _ attempt: NativeApp.Attempt, by app: NativeApp, _ step: inout DemoStep
  ) async throws -> Secret {
    var browser = browser(for: app)
    let stop = try await cast.user.signIn(in: &browser, from: attempt.url)
    for entry in browser.log {
      let path = entry.request.target.prefix { $0 != "?" }
      let answer =
        entry.response.headers["Location"].map { "\(entry.response.status) to \($0.prefix { $0 != "?" })" }
        ?? DemoTranscript.line(entry.response)
      step.say("browser", "\(entry.request.method) \(path) → \(answer)")
    }
    guard case .app(let delivery) = stop else { throw UnmetExpectation("the browser to return to the app") }
    step.say("app", "receives " + DemoTranscript.line(address: delivery.address))
    do {
      return try app.code(in: delivery.parameters, for: attempt)
    } catch {
      throw UnmetExpectation("an answer that the app accepts, got \(error)")
    }
  }

  /// Signs the user in without adding lines to the story.
  private func signIn(_ attempt: NativeApp.Attempt, by app: NativeApp) async throws -> Secret {
    var discardedStep = DemoStep("")
    return try await signIn(attempt, by: app, &discardedStep)
  }

  private func redeem(
    _ code: Secret, _ verifier: Secret, by app: NativeApp, as speaker: String, _ step: inout DemoStep
  ) async throws -> Response {
    let request = app.tokenRequest(code: code, verifier: verifier)
    return try await exchange(request, at: app.server.tokenEndpoint, from: speaker, to: "gateway", &step)
  }

  private func useToken(_ token: Secret, _ step: inout DemoStep) async throws -> Response {
    let request = Request(
      method: "GET", target: cast.resource.target,
      headers: ["Host": cast.resource.authority, "Authorization": "Bearer \(token.reveal())"])
    return try await exchange(request, at: cast.resource, from: "app", to: "legacy", &step)
  }

  private func exchange(
    _ request: Request, at address: WebAddress, from: String, to: String, _ step: inout DemoStep
  ) async throws -> Response {
    let hasToken = request.headers.contains("Authorization")
    step.say(from, DemoTranscript.line(request) + (hasToken ? " with its token" : ""))
    let response = try await send(address, request)
    step.say(to, DemoTranscript.line(response))
    return response
  }

  private func describe(_ stop: DemoBrowser.Stop, _ browser: DemoBrowser) -> String {
    switch stop {
    case .page(let page): DemoTranscript.line(page.response)
    case .app(let delivery):
      "\(browser.log.last?.response.status ?? 302) to " + DemoTranscript.line(address: delivery.address)
    }
  }
}
