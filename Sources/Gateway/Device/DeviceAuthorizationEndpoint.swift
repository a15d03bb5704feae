import Enforcement
import HTTP
import OAuth
import Policy
import Sealing
import Stores
import Time

/// The device authorization endpoint (RFC 8628, section 3.1). A device without a browser starts a flow here, and gets a
/// device code to poll with and a user code to show.
struct DeviceAuthorizationEndpoint {
  private let intercepted: InterceptedRequest
  private let request: TokenRequest

  init(_ intercepted: InterceptedRequest) {
    self.intercepted = intercepted
    request = intercepted.clientRequest(.atDeviceAuthorization)
  }

  func respond() async -> Response {
    let authentication = intercepted.authentication(of: request)
    if let refused = intercepted.throttledAddress()
      ?? intercepted.preliminaryRefusal(request, authentication, isObserved: false)
    {
      return refused
    }
    let outcome = Enforcement.decideDeviceAuthorization(request, policy: intercepted.policy)
    intercepted.trail.record(outcome)
    guard let permit = outcome.permit else {
      let refusal = outcome.refusal ?? .withoutRedirect(.grantNotAllowed)
      if refusal.rejection == .clientAuthenticationFailed { intercepted.countFailedCredentials(authentication) }
      return intercepted.tokenRejection(refusal)
    }
    do throws(StoreError) {
      return try await start(permit)
    } catch {
      guard error == .tooLong else { return intercepted.tokenRejection(.withoutRedirect(.storeUnavailable)) }
      intercepted.trail.recordRefusal(.scopeMalformed)
      return intercepted.tokenError(.invalidScope, status: 400, description: "scope is too long")
    }
  }

  private func start(_ permit: DeviceAuthorizationPermit) async throws(StoreError) -> Response {
    let id = intercepted.ensureTransactionID()
    let gateway = intercepted.gateway
    let lifetime = permit.client.deviceCodeLifetime
    let length = gateway.resources.liveUserCodes.nextLength(
      expiry: intercepted.now + lifetime, replicas: intercepted.policy.gateway.replicas, now: intercepted.now)
    let flow = try await gateway.deviceFlows.start(
      permit, id, codeLength: length, network: NetworkPrefix.networkText(of: intercepted.request.peer.address),
      holder: intercepted.storeHolder(for: permit.client), now: intercepted.now)
    let deviceCode = gateway.sealer.seal(DeviceCode(flow: id, clientID: permit.client.id, expiry: flow.expiry))
    let uri = intercepted.policy.gateway.origin.description + GatewaySettings.devicePath
    var members: [String: JSONValue] = [
      "device_code": .string(deviceCode), "user_code": .string(flow.userCode.text), "verification_uri": .string(uri),
      "expires_in": .integer(Int64(lifetime.count)), "interval": .integer(Int64(flow.interval.count)),
      // Some libraries show this text to the user, although no RFC defines it.
      "message": .string("To sign in, open \(uri) in a web browser and enter the code \(flow.userCode.text)."),
    ]
    if permit.client.deviceCompleteURI {
      members["verification_uri_complete"] = .string("\(uri)?\(DevicePage.Field.userCode)=\(flow.userCode.text)")
    }
    return intercepted.tokenResponse(members)
  }
}
