import HTTP
import LegacyServer

extension DemoStory {
  /// An agent that the policy does not list registers itself and signs in.
  func runAgent(_ step: inout DemoStep) async throws {
    let agent = try agent()
    let app = try await register(agent, &step)
    let attempt = app.start()
    step.say("agent", "opens " + DemoTranscript.line(address: attempt.url.description))
    var browser = browser(for: app)
    guard case .page(let consent) = try await browser.open(attempt.url), consent.text.contains(agent.name) else {
      throw UnmetExpectation("a page that names the agent")
    }
    step.say("gateway", DemoTranscript.line(consent.response))
    let code = try await signIn(attempt, by: app, as: "agent", &step)
    let response = try await redeem(code, attempt.verifier, by: app, as: "agent", &step)
    guard let tokens = NativeApp.tokens(in: response) else { throw UnmetExpectation("a token for the agent") }
    let resourceResponse = try await useToken(tokens.accessToken, as: "agent", &step)
    step.finish(
      isAsExpected: resourceResponse.status == 200,
      expectation: "an agent that no policy lists gets a token, after the user saw the name that it gives itself")
  }

  /// A thief uses the id of the registered agent with a redirect URI of its own.
  func runAgentRedirectURI(_ step: inout DemoStep) async throws {
    let app = try await register(try agent(), &step)
    let requestsBefore = participants.recorder?.count
    let attempt = app.start { $0.set("redirect_uri", "https://attacker.example/callback") }
    step.say("thief", "opens " + DemoTranscript.line(address: attempt.url.description))
    var browser = DemoBrowser(appRedirectURI: "https://attacker.example/callback", send: send)
    guard case .page(let page) = try await browser.open(attempt.url) else {
      throw UnmetExpectation("a page, and no redirect to the attacker")
    }
    step.say("gateway", DemoTranscript.line(page.response))
    step.finish(
      isAsExpected: page.status == 400 && participants.recorder?.count == requestsBefore,
      expectation: "the registration is part of the id, so it works with no other redirect URI")
  }

  private func agent() throws -> DemoAgent {
    guard let agent = participants.agent else { throw UnmetExpectation("an agent") }
    return agent
  }

  /// Reads the metadata document and registers the agent. Returns it as an app.
  private func register(_ agent: DemoAgent, _ step: inout DemoStep) async throws -> NativeApp {
    step.say("agent", DemoTranscript.line(agent.metadataRequest))
    let document = try await send(agent.metadataAddress, agent.metadataRequest)
    guard let metadata = agent.metadata(in: document), let registration = agent.registration(metadata) else {
      throw UnmetExpectation("metadata with PKCE and a registration endpoint")
    }
    step.say("gateway", "\(document.status) issuer=\(metadata.issuer) registration_endpoint=\(registration.address)")
    step.say(
      "agent", "POST \(registration.address.target) client_name=\(agent.name) redirect_uris=[\(agent.redirectURI)]")
    let response = try await send(registration.address, registration.request)
    guard let app = agent.app(registeredBy: response, metadata) else { throw UnmetExpectation("a client id") }
    step.say("gateway", "\(response.status) client_id=\(DemoTranscript.short(app.clientID))")
    return app
  }
}
