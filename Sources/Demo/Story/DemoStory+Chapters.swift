internal import ByteText
import Cryptography
import HTTP
import LegacyServer
import OAuth

extension DemoStory {
  func runSuccess(_ step: inout DemoStep) async throws {
    let attempt = participants.app.start()
    step.say("app", "opens " + DemoTranscript.line(address: attempt.url.description))
    let code = try await signIn(attempt, by: participants.app, &step)
    let response = try await redeem(code, attempt.verifier, by: participants.app, as: "app", &step)
    guard let tokens = NativeApp.tokens(in: response) else { throw UnmetExpectation("a token for the app") }
    let resourceResponse = try await useToken(tokens.accessToken, &step)
    step.finish(
      isAsExpected: resourceResponse.status == 200, expectation: "the legacy server accepts the app's token")
  }

  func runNoChallenge(_ step: inout DemoStep) async throws {
    let requestsBefore = legacyRequestCount
    let attempt = participants.app.start { parameters in
      parameters.remove("code_challenge")
      parameters.remove("code_challenge_method")
    }
    step.say("app", "opens " + DemoTranscript.line(address: attempt.url.description))
    var browser = browser(for: participants.app)
    let outcome = try await browser.open(attempt.url)
    step.say("gateway", describe(outcome, browser))
    guard case .app(let answer) = outcome else { throw UnmetExpectation("an error redirect to the app") }
    let isExpectedResponse =
      answer.parameters["error"] == "invalid_request" && answer.parameters["state"] == attempt.state
      && answer.parameters["code"] == nil
    step.finish(
      isAsExpected: isExpectedResponse && legacyRequestCount == requestsBefore,
      expectation: "the app learns why" + noRequestNote)
  }

  func runStolenCode(_ step: inout DemoStep) async throws {
    let attempt = participants.app.start()
    let code = try await signIn(attempt, by: participants.app)
    step.say("thief", "has intercepted the app's code: code=\(code.reveal().prefix(6))…")
    let requestsBefore = legacyRequestCount
    let guess = Secret(Base64URL.encode(randomBytes(32)))
    let responseToThief = try await redeem(code, guess, by: participants.app, as: "thief", &step)
    let responseToThiefAsOtherApp = try await redeem(code, guess, by: participants.otherApp, as: "thief", &step)
    let noThiefRequestForwarded = legacyRequestCount == requestsBefore
    step.say("app", "redeems the same code with its own verifier")
    let responseToApp = try await redeem(code, attempt.verifier, by: participants.app, as: "app", &step)
    let isExpectedResponse =
      [responseToThief, responseToThiefAsOtherApp].allSatisfy {
        $0.status == 400 && NativeApp.error(in: $0) == "invalid_grant"
      }
      && NativeApp.tokens(in: responseToApp) != nil
    step.finish(
      isAsExpected: isExpectedResponse && noThiefRequestForwarded,
      expectation: "no token for the thief, and the app still gets its own" + noThiefRequestNote)
  }

  func runWrongRedirectURI(_ step: inout DemoStep) async throws {
    let requestsBefore = legacyRequestCount
    let attempt = participants.app.start { $0.set("redirect_uri", "https://attacker.example/callback") }
    step.say("thief", "opens " + DemoTranscript.line(address: attempt.url.description))
    var browser = browser(for: participants.app)
    // With this setting, the browser stops at a redirect to this URI (`.app` below) and sends no request to
    // attacker.example.
    browser.appRedirectURI = "https://attacker.example/callback"
    let outcome = try await browser.open(attempt.url)
    step.say("gateway", describe(outcome, browser))
    guard case .page(let page) = outcome else { throw UnmetExpectation("a page, and no redirect to the attacker") }
    step.finish(
      isAsExpected: page.status == 400 && legacyRequestCount == requestsBefore,
      expectation: "the user sees a page, and nothing is redirected" + noRequestNote)
  }

  func runReplay(_ step: inout DemoStep) async throws {
    let attempt = participants.app.start()
    let code = try await signIn(attempt, by: participants.app)
    let first = try await redeem(code, attempt.verifier, by: participants.app, as: "app", &step)
    guard let tokens = NativeApp.tokens(in: first) else { throw UnmetExpectation("a token for the app") }
    let redemptions = participants.recorder?.requests(to: "/token").count ?? 0
    let second = try await redeem(code, attempt.verifier, by: participants.app, as: "app", &step)
    let isExpectedResponse = second.status == 400 && NativeApp.error(in: second) == "invalid_grant"
    let isSecondNotForwarded = participants.recorder.map { $0.requests(to: "/token").count == redemptions } ?? true
    let areRevoked = try await tokensAreRevoked(tokens, &step)
    step.finish(
      isAsExpected: isExpectedResponse && isSecondNotForwarded && areRevoked,
      expectation: "the second use is refused, and the tokens of the first are revoked at the legacy server")
  }

  /// Shows two problems that native apps have at a legacy server if there is no gateway. The app uses the client id
  /// that is registered there. First, the legacy server refuses the app's own redirect URI. Second, if the app sends
  /// the registered redirect URI instead, a thief can redeem the app's code, because every copy of the app contains the
  /// client secret.
  func runWithoutGateway(_ step: inout DemoStep) async throws {
    let direct = NativeApp.Server(
      authorizationEndpoint: participants.legacy.at("/authorize"),
      tokenEndpoint: participants.legacy.at("/token"), issuer: nil)
    var app = participants.app
    app.clientID = participants.legacyClient.id
    app.server = direct
    let firstAttempt = app.start()
    step.say("app", "opens " + DemoTranscript.line(address: firstAttempt.url.description))
    var browser = browser(for: app)
    let refusal = try await browser.open(firstAttempt.url)
    step.say("legacy", describe(refusal, browser))
    guard case .page(let page) = refusal, page.status == 400 else {
      throw UnmetExpectation("the legacy server to refuse the app's redirect URI")
    }

    app.redirectURI = participants.legacyClient.redirectURI
    let attempt = app.start()
    step.say("app", "tries the one registered redirect URI instead, and the user signs in")
    let code = try await signIn(attempt, by: app)
    step.say("thief", "has the code, no verifier, and the secret that ships in every copy of the app")
    let secret = participants.legacyClient.secret.reveal()
    let request = app.tokenRequest(code: code, verifier: Secret("")) { parameters in
      parameters.remove("code_verifier")
      parameters.append("client_secret", secret)
    }
    let response = try await exchange(request, at: direct.tokenEndpoint, from: "thief", to: "legacy", &step)
    step.finish(
      isAsExpected: NativeApp.tokens(in: response) != nil,
      expectation: "no native app can sign in with its own redirect URI, and a stolen code is as good as a token")
  }
}

extension DemoStory {
  /// The number of requests that have reached the legacy server; 0 if they are not recorded.
  private var legacyRequestCount: Int { participants.recorder?.count ?? 0 }

  /// The statement that the legacy server got no request; empty if the requests are not recorded.
  private var noRequestNote: String {
    participants.recorder == nil ? "" : "; the legacy server was contacted 0 times"
  }

  /// The statement that the legacy server got no request of the thief; empty if the requests are not recorded.
  private var noThiefRequestNote: String {
    participants.recorder == nil ? "" : "; no request of the thief reached the legacy server"
  }

  func browser(for app: NativeApp) -> DemoBrowser {
    var browser = DemoBrowser(appRedirectURI: app.redirectURI, send: send)
    browser.keepsLog = true
    return browser
  }

  /// Signs the user in with a new browser, and adds the requests to the step. Returns the code, after the app has
  /// checked the response.
  func signIn(
    _ attempt: NativeApp.Attempt, by app: NativeApp, as speaker: String = "app", _ step: inout DemoStep
  ) async throws -> Secret {
    var browser = browser(for: app)
    let outcome = try await participants.user.signIn(in: &browser, from: attempt.url)
    sayRequests(of: browser, &step)
    guard case .app(let delivery) = outcome else { throw UnmetExpectation("the browser to return to the app") }
    step.say(speaker, "receives " + DemoTranscript.line(address: delivery.address))
    do {
      return try app.code(in: delivery.parameters, for: attempt)
    } catch {
      throw UnmetExpectation("an answer that the app accepts, got \(error)")
    }
  }

  /// Adds a line for each request of the browser to the step.
  func sayRequests(of browser: DemoBrowser, _ step: inout DemoStep) {
    for entry in browser.log {
      let path = entry.request.target.prefix { $0 != "?" }
      let answer =
        entry.response.headers["Location"].map { "\(entry.response.status) to \($0.prefix { $0 != "?" })" }
        ?? DemoTranscript.line(entry.response)
      step.say("browser", "\(entry.request.method) \(path) → \(answer)")
    }
  }

  /// Signs the user in without adding lines to the story.
  private func signIn(_ attempt: NativeApp.Attempt, by app: NativeApp) async throws -> Secret {
    var discardedStep = DemoStep("")
    return try await signIn(attempt, by: app, &discardedStep)
  }

  /// Sends a token request with the client id and the redirect URI of `app` to the gateway. `speaker` is the
  /// participant that sends the request: the app, or a thief who pretends to be `app`.
  func redeem(
    _ code: Secret, _ verifier: Secret, by app: NativeApp, as speaker: String, _ step: inout DemoStep
  ) async throws -> Response {
    let request = app.tokenRequest(code: code, verifier: verifier)
    return try await exchange(request, at: app.server.tokenEndpoint, from: speaker, to: "gateway", &step)
  }

  /// Requests the protected resource with the access token. Returns the response of the resource.
  func useToken(
    _ token: Secret, as speaker: String = "app", _ step: inout DemoStep
  ) async throws -> Response {
    let request = Request(getting: participants.resource, with: token.reveal())
    return try await exchange(request, at: participants.resource, from: speaker, to: "legacy", &step)
  }

  /// Uses the access token and, if there is one, the refresh token. Returns true if the legacy server refuses the
  /// access token and the gateway refuses the refresh token.
  private func tokensAreRevoked(_ tokens: NativeApp.Tokens, _ step: inout DemoStep) async throws -> Bool {
    let resourceResponse = try await useToken(tokens.accessToken, &step)
    guard let refreshToken = tokens.refreshToken else { return resourceResponse.status == 401 }
    let request = participants.app.refreshRequest(refreshToken: refreshToken)
    let refreshResponse = try await exchange(
      request, at: participants.app.server.tokenEndpoint, from: "app", to: "gateway", &step)
    return resourceResponse.status == 401 && refreshResponse.status == 400
      && NativeApp.error(in: refreshResponse) == "invalid_grant"
  }

  /// Sends a request, and adds a line for the request and a line for the response to the step. `from` is the
  /// participant that sends the request, and `to` is the participant that gives the response. If the legacy server
  /// responds through the gateway, `to` is the legacy server.
  func exchange(
    _ request: Request, at address: WebAddress, from: String, to: String, _ step: inout DemoStep
  ) async throws -> Response {
    let hasToken = request.headers.contains("Authorization")
    step.say(from, DemoTranscript.line(request) + (hasToken ? " with its token" : ""))
    let response = try await send(address, request)
    step.say(to, DemoTranscript.line(response))
    return response
  }

  private func describe(_ outcome: DemoBrowser.Outcome, _ browser: DemoBrowser) -> String {
    switch outcome {
    case .page(let page): DemoTranscript.line(page.response)
    case .app(let delivery):
      "\(browser.log.last?.response.status ?? 302) to " + DemoTranscript.line(address: delivery.address)
    }
  }
}
