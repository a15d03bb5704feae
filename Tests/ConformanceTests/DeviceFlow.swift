import Demo
import FoundationEssentials
import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Testing

/// The device authorization response (RFC 8628, section 3.2).
struct StartedDevice: Decodable {
  let deviceCode: String
  let userCode: String
  let verificationURI: String
  let verificationURIComplete: String?
  let lifetime: Int
  let interval: Int
  let message: String?

  enum CodingKeys: String, CodingKey {
    case deviceCode = "device_code"
    case userCode = "user_code"
    case verificationURI = "verification_uri"
    case verificationURIComplete = "verification_uri_complete"
    case lifetime = "expires_in"
    case interval
    case message
  }
}

/// The steps of a device flow: DA (the device authorization request), DT (the device's token request) and the pages.
extension GatewayFixture {
  static let deviceGrant = "urn:ietf:params:oauth:grant-type:device_code"

  func authorizeDevice(
    _ headers: Headers = Headers(), adjusting adjust: (inout Form) -> Void = { _ in }
  ) async throws -> Response {
    var form: Form = ["client_id": "tv1", "scope": "read"]
    adjust(&form)
    return try await post("/device_authorization", form, headers)
  }

  func startDevice(
    _ headers: Headers = Headers(), adjusting adjust: (inout Form) -> Void = { _ in }
  ) async throws -> StartedDevice {
    let response = try await authorizeDevice(headers, adjusting: adjust)
    try #require(response.status == 200, "\(response.text)")
    return try JSONDecoder().decode(StartedDevice.self, from: Data(response.body))
  }

  func pollForm(_ deviceCode: String, _ client: String = "tv1") -> Form {
    ["grant_type": GatewayFixture.deviceGrant, "device_code": deviceCode, "client_id": client]
  }

  func poll(_ started: StartedDevice, _ client: String = "tv1") async throws -> Response {
    try await post("/token", pollForm(started.deviceCode, client))
  }

  /// Opens the device page and types a code. Returns the next page.
  func enter(
    _ code: String, in browser: inout DemoBrowser, target: String = "/device"
  ) async throws -> DemoBrowser.Page {
    let page = try await browser.page(at: front.at(target))
    let form = try #require(page.forms.first)
    return try await browser.page(
      after: form, on: page, ["user_code": code], button: form.buttons.first { $0.value == "continue" })
  }

  /// Types a code and signs in. Returns the confirmation page.
  func confirmation(
    of started: StartedDevice, in browser: inout DemoBrowser, answer: DemoUser.Answer = .allow
  ) async throws -> DemoBrowser.Page {
    var page = try await enter(started.userCode, in: &browser)
    let user = DemoUser()
    for _ in 0..<4 {
      guard let form = page.forms.first, form.action != "/device" else { break }
      if let password = form.names(of: "password").first {
        var values = [password: user.password]
        if let name = form.names(of: "text").first { values[name] = user.name }
        page = try await browser.page(after: form, on: page, values, button: form.buttons.first)
      } else {
        let wanted = answer == .allow ? ["yes", "allow", "approve"] : ["no", "deny"]
        let button = form.buttons.first { wanted.contains($0.value.lowercased()) }
        page = try await browser.page(after: form, on: page, button: button)
      }
    }
    return page
  }

  /// Presses a button of the confirmation page.
  func decide(
    _ decision: String, on page: DemoBrowser.Page, in browser: inout DemoBrowser
  ) async throws -> DemoBrowser.Page {
    let form = try #require(page.forms.first, "\(page.status) \(page.text)")
    let button = try #require(form.buttons.first { $0.value == decision }, "\(page.text)")
    return try await browser.page(after: form, on: page, button: button)
  }

  /// Runs a flow up to the approval.
  func approvedDevice() async throws -> StartedDevice {
    let started = try await startDevice()
    var browser = browser()
    let page = try await confirmation(of: started, in: &browser)
    let decided = try await decide("approve", on: page, in: &browser)
    try #require(decided.status == 200, "\(decided.text)")
    return started
  }
}

extension DemoBrowser {
  /// The browser left the gateway.
  struct Left: Error {}

  mutating func page(at address: WebAddress) async throws -> Page {
    guard case .page(let page) = try await open(address) else { throw Left() }
    return page
  }

  mutating func page(
    after form: HTMLForm, on page: Page, _ values: [String: String] = [:], button: HTMLForm.Control?
  ) async throws -> Page {
    guard case .page(let next) = try await submit(form, on: page, values, button: button) else { throw Left() }
    return next
  }
}
