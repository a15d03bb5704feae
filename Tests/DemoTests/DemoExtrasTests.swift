import Demo
import HTTP
import LegacyServer
import Testing

@Suite("The device and the agent of the demo")
struct DemoExtrasTests {
  /// A fault of the server at which the agent registers.
  enum AgentFault: CaseIterable, Sendable {
    case offersNoPKCE
    case namesOtherIssuer
    case refusesRegistration
    case hidesAgent
    case acceptsAnyRedirectURI
  }

  private static let agentID = "registered-agent"

  private static func json(_ status: Int, _ text: String) -> Response {
    Response(status: status, headers: ["Content-Type": "application/json"], body: Array(text.utf8))
  }

  /// Answers the requests of the agent's chapters that `StubGateway` does not know.
  private static func sendForAgent(_ gateway: StubGateway, _ fault: AgentFault?) -> DemoBrowser.Send {
    let send = DemoStoryTests.send(gateway)
    return { address, request in
      switch request.path {
      case "/.well-known/oauth-authorization-server":
        return json(
          200,
          """
          {"issuer":"\(fault == .namesOtherIssuer ? "http://other.test" : StubGateway.origin)",
          "authorization_endpoint":"\(StubGateway.origin)/authorize","token_endpoint":"\(StubGateway.origin)/token",
          "registration_endpoint":"\(StubGateway.origin)/register",
          "code_challenge_methods_supported":["\(fault == .offersNoPKCE ? "plain" : "S256")"]}
          """)
      case "/register":
        return fault == .refusesRegistration
          ? json(400, #"{"error":"invalid_client_metadata"}"#) : json(201, #"{"client_id":"\#(agentID)"}"#)
      default:
        var response = try await send(address, request)
        let isPage = response.headers["Content-Type"]?.hasPrefix("text/html") ?? false
        if isPage, fault != .hidesAgent { response.body += Array("<p>Agent Smith</p>".utf8) }
        return response
      }
    }
  }

  private static func runAgent(_ fault: AgentFault? = nil) async -> (isGood: Bool, printed: String) {
    let redirectURI = "http://127.0.0.1:7/callback"
    let gateway = StubGateway(
      redirectURIs: [agentID: redirectURI], fault: fault == .acceptsAnyRedirectURI ? .acceptsAnyRedirectURI : nil)
    var participants = DemoStoryTests.participants(gateway)
    participants.agent = DemoAgent(
      name: "Agent Smith", redirectURI: redirectURI, issuer: WebAddress(host: "gateway.test", port: 80))
    let story = DemoStory(participants, send: sendForAgent(gateway, fault))
    let steps = [await story.run(.agent), await story.run(.agentRedirectURI)]
    let printed = steps.map { DemoTranscript(isColoured: false).text(of: $0, number: 1) }.joined()
    return (steps.allSatisfy(\.isAsExpected), printed)
  }

  private static func runDevice(_ fault: StubDeviceGateway.Fault? = nil) async -> (isGood: Bool, printed: String) {
    let gateway = DemoStoryTests.gateway()
    let deviceGateway = StubDeviceGateway(fault: fault)
    let send = DemoStoryTests.send(gateway)
    var participants = DemoStoryTests.participants(gateway)
    participants.device = StubDeviceGateway.device
    let story = DemoStory(participants) { address, request in
      if let response = deviceGateway.respond(to: request) { return response }
      return try await send(address, request)
    }
    let steps = [await story.run(.device), await story.run(.deniedDevice)]
    let printed = steps.map { DemoTranscript(isColoured: false).text(of: $0, number: 1) }.joined()
    return (steps.allSatisfy(\.isAsExpected), printed)
  }

  @Test("With a correct gateway the chapters of the device succeed, and no token or device code is printed completely")
  func device() async {
    let (isGood, printed) = await Self.runDevice()
    #expect(isGood, "\(printed)")
    #expect(printed.contains(StubDeviceGateway.userCode))
    #expect(!printed.contains("a-secret-device-code") && !printed.contains("device-token"))
  }

  @Test("A gateway that breaks a rule of the device grant is noticed", arguments: StubDeviceGateway.Fault.allCases)
  func deviceFaults(fault: StubDeviceGateway.Fault) async {
    let (isGood, printed) = await Self.runDevice(fault)
    #expect(!isGood, "\(printed)")
  }

  @Test("With a correct gateway the chapters of the agent succeed")
  func agent() async {
    let (isGood, printed) = await Self.runAgent()
    #expect(isGood, "\(printed)")
  }

  @Test("A gateway that breaks a rule of metadata or registration is noticed", arguments: AgentFault.allCases)
  func agentFaults(fault: AgentFault) async {
    let (isGood, printed) = await Self.runAgent(fault)
    #expect(!isGood, "\(printed)")
  }
}
