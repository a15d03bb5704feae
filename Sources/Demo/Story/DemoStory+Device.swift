import HTTP
import LegacyServer
import OAuth

extension DemoStory {
  /// A device signs in: a poll before the user's decision gets no token, the next one does. A third one gets the same
  /// tokens, in case that the device has lost the response.
  func runDevice(_ step: inout DemoStep) async throws {
    let device = try device()
    let flow = try await start(device, as: "device", &step)
    let early = try await poll(device, flow, as: "device", &step)
    try await decide(flow, of: device, .allow, &step)
    let response = try await poll(device, flow, as: "device", &step)
    guard let tokens = NativeApp.tokens(in: response) else { throw UnmetExpectation("a token for the device") }
    let resourceResponse = try await useToken(tokens.accessToken, as: "device", &step)
    let late = try await poll(device, flow, as: "device", &step)
    let isExpectedResponse =
      NativeApp.error(in: early) == "authorization_pending" && resourceResponse.status == 200
      && NativeApp.tokens(in: late)?.accessToken.reveal() == tokens.accessToken.reveal()
    step.finish(
      isAsExpected: isExpectedResponse,
      expectation: "the device gets a token after the user allowed it, not before; a repeated poll gets the same token")
  }

  /// A thief starts a flow and sends its code to the user, who denies it (RFC 8628, section 5.4).
  func runDeniedDevice(_ step: inout DemoStep) async throws {
    let device = try device()
    let flow = try await start(device, as: "thief", &step)
    step.say("thief", "sends the user the link and the code, as if they were those of the user's own device")
    try await decide(flow, of: device, .deny, &step)
    let response = try await poll(device, flow, as: "thief", &step)
    step.finish(
      isAsExpected: response.status == 400 && NativeApp.error(in: response) == "access_denied",
      expectation: "the page names the device and its code; the user denies, and the thief gets no token")
  }

  private func device() throws -> DemoDevice {
    guard let device = participants.device else { throw UnmetExpectation("a device") }
    return device
  }

  private func start(_ device: DemoDevice, as speaker: String, _ step: inout DemoStep) async throws -> DemoDevice.Flow {
    step.say(speaker, DemoTranscript.line(device.startRequest))
    let response = try await send(device.deviceAuthorizationEndpoint, device.startRequest)
    guard let flow = DemoDevice.flow(in: response) else { throw UnmetExpectation("a device code") }
    step.say("gateway", "\(response.status) user_code=\(flow.userCode) verification_uri=\(flow.verificationURI)")
    return flow
  }

  private func poll(
    _ device: DemoDevice, _ flow: DemoDevice.Flow, as speaker: String, _ step: inout DemoStep
  ) async throws -> Response {
    try await exchange(device.pollRequest(flow), at: device.tokenEndpoint, from: speaker, to: "gateway", &step)
  }

  /// Opens the page of the flow in a new browser. The user types the code, signs in, and decides.
  private func decide(
    _ flow: DemoDevice.Flow, of device: DemoDevice, _ answer: DemoUser.Answer, _ step: inout DemoStep
  ) async throws {
    var user = participants.user
    user.deviceAnswer = answer
    var browser = DemoBrowser(send: send)
    browser.keepsLog = true
    let outcome = try await user.signIn(
      in: &browser, from: flow.verificationURI, typing: ["user_code": flow.userCode])
    sayRequests(of: browser, &step)
    guard case .page(let page) = outcome, page.status == 200 else {
      throw UnmetExpectation("a page after the user's decision")
    }
    let showsDevice = browser.log.contains { entry in
      let text = HTMLForm.text(of: String(decoding: entry.response.body, as: UTF8.self))
      return text.contains(device.name) && text.contains(flow.userCode)
    }
    guard showsDevice else { throw UnmetExpectation("a page with the name and the code of the device") }
  }
}
