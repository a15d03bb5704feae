import Demo
import HTTP
import LegacyServer
import Synchronization

/// The part of a gateway that the device's chapters need: the pages for the user and the endpoints for the device.
final class StubDeviceGateway: Sendable {
  private enum State {
    case pending
    case approved
    case denied
    case redeemed
  }

  /// A rule that the gateway breaks, for the tests that the story notices it.
  enum Fault: CaseIterable, Sendable {
    case answersBeforeDecision
    case answersAfterDenial
    case forgetsAnswer
    case hidesDevice
  }

  static let userCode = "BCDF-GHJK"
  static let device = DemoDevice(
    clientID: "tv", name: "Television",
    deviceAuthorizationEndpoint: WebAddress(host: "gateway.test", port: 80).at("/start"),
    tokenEndpoint: WebAddress(host: "gateway.test", port: 80).at("/token"))

  private let fault: Fault?
  private let state = Mutex(State.pending)

  init(fault: Fault? = nil) {
    self.fault = fault
  }

  /// Returns the response to a request of the device's chapters; `nil` for any other request.
  func respond(to request: Request) -> Response? {
    let form = Form(decoding: String(decoding: request.body, as: UTF8.self))
    switch request.path {
    case "/start":
      state.withLock { $0 = .pending }
      return json(
        200,
        #"{"device_code":"a-secret-device-code","user_code":"\#(Self.userCode)","verification_uri":"http://gateway.test/device"}"#
      )
    case "/token" where form["device_code"] != nil: return state.withLock { poll(&$0) }
    case "/device" where form["decision"] != nil:
      state.withLock { $0 = form["decision"] == "approve" ? .approved : .denied }
      return page("<h1>Return to your device</h1>")
    case "/device" where form["user_code"] == Self.userCode:
      let named = fault == .hidesDevice ? "" : "\(Self.device.name) \(Self.userCode)"
      return page(
        """
        \(named)<form method="post"><input type="hidden" name="device_token" value="t">
        <button name="decision" value="deny">No</button><button name="decision" value="approve">Allow</button></form>
        """)
    case "/device":
      return page(#"<form method="post"><input name="user_code"><button>Continue</button></form>"#)
    case "/api/me" where request.headers["Authorization"] == "Bearer device-token": return json(200, "{}")
    default: return nil
    }
  }

  private func poll(_ state: inout State) -> Response {
    let tokens = json(200, #"{"access_token":"device-token","token_type":"bearer"}"#)
    switch state {
    case .pending where fault != .answersBeforeDecision: return json(400, #"{"error":"authorization_pending"}"#)
    case .denied where fault != .answersAfterDenial: return json(400, #"{"error":"access_denied"}"#)
    case .redeemed where fault == .forgetsAnswer: return json(400, #"{"error":"invalid_grant"}"#)
    case .approved: state = .redeemed
    default: break
    }
    return tokens
  }

  private func page(_ html: String) -> Response {
    Response(status: 200, headers: ["Content-Type": "text/html"], body: Array(html.utf8))
  }

  private func json(_ status: Int, _ text: String) -> Response {
    Response(status: status, headers: ["Content-Type": "application/json"], body: Array(text.utf8))
  }
}
