import HTTP
import LegacyServer

/// The device and the agent.
extension DemoAppHandler {
  /// Starts a sign-in of the device, and leads to the page that shows its code.
  func startDevice() async -> Response {
    guard let device else { return DemoAppPage.noDevice }
    do throws(LoopbackClient.Failure) {
      let response = try await client.send(device.deviceAuthorizationEndpoint, device.startRequest)
      guard let flow = DemoDevice.flow(in: response) else { return DemoAppPage.unexpected(response) }
      deviceFlow = flow
      return Response(status: 303, headers: ["Location": "/device", "Cache-Control": "no-store"])
    } catch {
      return DemoAppPage.noAnswer(error)
    }
  }

  /// Polls once, and shows the code or the result. The page loads itself again after the interval.
  func showDevice() async -> Response {
    guard let device, let flow = deviceFlow else { return DemoAppPage.noDevice }
    do throws(LoopbackClient.Failure) {
      let tokenResponse = try await client.send(device.tokenEndpoint, device.pollRequest(flow))
      if let tokens = NativeApp.tokens(in: tokenResponse) {
        deviceFlow = nil
        return DemoAppPage.deviceResult(
          tokenResponse: tokenResponse, resourceResponse: try await useToken(tokens.accessToken))
      }
      switch NativeApp.error(in: tokenResponse) {
      case "authorization_pending", "slow_down": return DemoAppPage.deviceCode(device, flow)
      default:
        deviceFlow = nil
        return DemoAppPage.deviceResult(tokenResponse: tokenResponse, resourceResponse: nil)
      }
    } catch {
      return DemoAppPage.noAnswer(error)
    }
  }

  /// Reads the metadata document, registers the agent, and redirects the browser to the authorization endpoint.
  func startAgent() async -> Response {
    guard let agent else { return DemoAppPage.noDevice }
    do throws(LoopbackClient.Failure) {
      let document = try await client.send(agent.metadataAddress, agent.metadataRequest)
      guard let metadata = agent.metadata(in: document), let registration = agent.registration(metadata) else {
        return DemoAppPage.unexpected(document)
      }
      let response = try await client.send(registration.address, registration.request)
      guard let app = agent.app(registeredBy: response, metadata) else { return DemoAppPage.unexpected(response) }
      return start(app)
    } catch {
      return DemoAppPage.noAnswer(error)
    }
  }
}
