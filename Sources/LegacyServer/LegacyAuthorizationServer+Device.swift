import FoundationEssentials
import HTTP
import OAuth
import Synchronization
import Time

/// The device grant (RFC 8628), which some servers of the time of its drafts have.
extension LegacyAuthorizationServer {
  /// The path of the page on which a user enters the code of a device.
  static let activationPath = "/activate"

  /// A device authorization response (RFC 8628, section 3.2).
  private struct DeviceResponse: Encodable {
    enum CodingKeys: String, CodingKey {
      case deviceCode = "device_code"
      case userCode = "user_code"
      case verificationURI = "verification_uri"
      case verificationURL = "verification_url"
      case verificationURIComplete = "verification_uri_complete"
      case lifetime = "expires_in"
      case interval
    }

    var deviceCode: String
    var userCode: String
    var verificationURI: String?
    var verificationURL: String?
    var verificationURIComplete: String
    var lifetime: Int
    var interval = 5
  }

  func authorizeDevice(_ request: LegacyRequest, now: UnixTime) -> Response {
    guard let client = authenticatedClient(request, request.body) else { return errorResponse(for: .invalidClient) }
    let deviceCode = LegacyAuthorizationServer.randomText(30)
    let userCode = String(LegacyAuthorizationServer.randomText(30).uppercased().filter(\.isLetter).prefix(6))
    let scope = request.body["scope"] ?? "basic"
    state.withLock { state in
      state.devices.insert(LegacyState.Device(clientID: client.id, scope: scope), for: deviceCode, now: now)
      state.userCodes.insert(deviceCode, for: userCode, now: now)
    }
    // The server knows itself by the name in the request, as many servers behind a proxy do.
    let page = "http://\(request.http.headers["Host"] ?? "legacy")\(LegacyAuthorizationServer.activationPath)"
    let usesDraft = configuration.quirks.sendsVerificationURL
    return json(
      DeviceResponse(
        deviceCode: deviceCode, userCode: userCode, verificationURI: usesDraft ? nil : page,
        verificationURL: usesDraft ? page : nil, verificationURIComplete: "\(page)?user_code=\(userCode)",
        lifetime: configuration.codeLifetime.count))
  }

  /// Shows the page for a code, or handles its submission.
  func activate(_ request: LegacyRequest, now: UnixTime) -> Response {
    guard let user = user(of: request, now: now) else {
      return LegacyAuthorizationServer.redirect(to: "/login?next=\(LegacyAuthorizationServer.activationPath)")
    }
    guard request.http.method == "POST" else {
      return LegacyPage.activation(user: user, path: LegacyAuthorizationServer.activationPath)
    }
    let isAllowed = request.body["confirm"] == "yes"
    let isFound = state.withLock { state in
      guard let code = request.body["user_code"], let deviceCode = state.userCodes.remove(code, now: now),
        var device = state.devices.value(for: deviceCode, now: now)
      else { return false }
      device.decision = isAllowed ? .allowed(user: user) : .denied
      state.devices.insert(device, for: deviceCode, now: now)
      return true
    }
    guard isFound else { return LegacyPage.message(status: 400, "Wrong code", "No device shows this code.") }
    return LegacyPage.message(status: 200, "Done", "Return to your device.")
  }

  func poll(_ parameters: Form, _ client: LegacyClient, now: UnixTime) -> Response {
    guard let code = parameters["device_code"] else { return errorResponse(for: .invalidRequest) }
    guard let device = state.withLock({ $0.devices.value(for: code, now: now) }) else {
      return errorResponse(for: .ofPoll("expired_token"))
    }
    guard device.clientID == client.id else { return errorResponse(for: .badCode) }
    switch device.decision {
    case .pending: return errorResponse(for: .ofPoll("authorization_pending"))
    case .denied: return errorResponse(for: .ofPoll("access_denied"))
    case .allowed(let user):
      if !configuration.quirks.acceptsDeviceCodesAgain {
        _ = state.withLock { $0.devices.remove(code, now: now) }
      }
      return issueTokens(
        LegacyState.Grant(user: user, clientID: client.id, scope: device.scope), refreshToken: nil, now: now)
    }
  }
}
