import Demo
import HTTP
import LegacyServer
import OAuth
import Testing
import Time

@Suite("The story of the demo")
struct DemoStoryTests {
  struct Unreachable: Error {}

  static func participants(_ gateway: StubGateway) -> DemoStory.Participants {
    let origin = WebAddress(host: "gateway.test", port: 80)
    let server = NativeApp.Server(
      authorizationEndpoint: origin.at("/authorize"), tokenEndpoint: origin.at("/token"), issuer: StubGateway.origin)
    return DemoStory.Participants(
      app: NativeApp(clientID: "com.example.mail", redirectURI: "com.example.mail:/cb", server: server),
      otherApp: NativeApp(clientID: "com.example.notes", redirectURI: "com.example.notes:/cb", server: server),
      resource: origin.at("/api/me"), legacy: WebAddress(host: "legacy.test", port: 9000),
      legacyClient: StubGateway.client, recorder: gateway.legacy.recorder)
  }

  static func gateway(_ fault: StubGateway.Fault? = nil) -> StubGateway {
    StubGateway(
      redirectURIs: ["com.example.mail": "com.example.mail:/cb", "com.example.notes": "com.example.notes:/cb"],
      fault: fault)
  }

  static func send(_ gateway: StubGateway) -> DemoBrowser.Send {
    { address, request in
      address.host == "gateway.test"
        ? gateway.respond(to: request, now: 1_700_000_000)
        : gateway.legacy.respond(to: request, now: 1_700_000_000)
    }
  }

  @Test("With a correct gateway every step succeeds")
  func good() async {
    let gateway = Self.gateway()
    var printed = ""
    let isGood = await DemoStory.run(
      Self.participants(gateway), isColoured: false, send: Self.send(gateway)
    ) { printed += $0 }
    #expect(isGood, "\(printed)")
    #expect(printed.contains("All 6 steps went as expected."))
    #expect(!printed.contains("\u{1b}"))
  }

  @Test("A faulty gateway is noticed", arguments: StubGateway.Fault.allCases)
  func faults(fault: StubGateway.Fault) async {
    let gateway = Self.gateway(fault)
    var printed = ""
    let isGood = await DemoStory.run(
      Self.participants(gateway), isColoured: true, send: Self.send(gateway)
    ) { printed += $0 }
    #expect(!isGood)
    #expect(printed.contains("FAILED"))
    #expect(printed.contains("\u{1b}[1;31m"))
  }

  @Test("No code, verifier, state, token or password is printed completely (I-secrets)")
  func secrets() async {
    let gateway = Self.gateway()
    let send = Self.send(gateway)
    var secrets: Set<String> = ["wonderland", StubGateway.client.secret.reveal()]
    var printed = ""
    _ = await DemoStory.run(Self.participants(gateway), isColoured: false) { address, request in
      let response = try await send(address, request)
      for text in [String(decoding: request.body, as: UTF8.self), String(request.query ?? "")] {
        for name in ["code", "state", "code_verifier", "code_challenge"] {
          if let value = Form(decoding: text)[name] { secrets.insert(value) }
        }
      }
      if let tokens = NativeApp.tokens(in: response) { secrets.insert(tokens.accessToken.reveal()) }
      return response
    } print: {
      printed += $0
    }
    #expect(secrets.count > 10)
    for secret in secrets where !secret.isEmpty { #expect(!printed.contains(secret)) }
  }

  @Test("An unreachable server fails each step and ends the story")
  func unreachable() async {
    var printed = ""
    let isGood = await DemoStory.run(Self.participants(Self.gateway()), isColoured: false) { _, _ in
      throw Unreachable()
    } print: {
      printed += $0
    }
    #expect(!isGood)
    #expect(printed.contains("6 of 6 steps did not go as expected."))
  }
}
