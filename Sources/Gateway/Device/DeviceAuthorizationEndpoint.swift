import Enforcement
import HTTP
import JSON
import OAuth
import Policy
import Proxy
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

  func respond() async -> Reply {
    let authentication = intercepted.authentication(of: request)
    let isObserved =
      intercepted.policy.devices == .atUpstream
      && Enforcement.mode(of: request, policy: intercepted.policy) == .observe
    if let refused = intercepted.throttledAddress()
      ?? intercepted.preliminaryRefusal(request, authentication, isObserved: isObserved)
    {
      return .response(refused)
    }
    if isObserved { return await intercepted.observe(request, authentication) }
    return .response(await respond(to: authentication))
  }

  private func respond(to authentication: ClientAuthentication?) async -> Response {
    let outcome = Enforcement.decideDeviceAuthorization(request, policy: intercepted.policy)
    intercepted.trail.record(outcome)
    guard let permit = outcome.permit else {
      let refusal = outcome.refusal ?? .withoutRedirect(.grantNotAllowed)
      if refusal.rejection == .clientAuthenticationFailed { intercepted.countFailedCredentials(authentication) }
      return intercepted.tokenRejection(refusal)
    }
    if let form = permit.upstream { return await UpstreamDeviceAuthorization(intercepted, permit).respond(form) }
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
    return intercepted.deviceAuthorizationResponse(
      DeviceCode(flow: id, clientID: permit.client.id, expiry: flow.expiry, resource: flow.resource),
      userCode: flow.userCode.text,
      uri: intercepted.policy.devicePageURI(with: nil),
      completeURI: permit.client.deviceCompleteURI ? intercepted.policy.devicePageURI(with: flow.userCode) : nil,
      lifetime: lifetime, interval: flow.interval)
  }
}

extension InterceptedRequest {
  /// Returns the response to a device authorization request (RFC 8628, section 3.2).
  func deviceAuthorizationResponse(
    _ deviceCode: DeviceCode, userCode: String, uri: String, completeURI: String?, lifetime: Seconds,
    interval: Seconds
  ) -> Response {
    var members: [String: JSONValue] = [
      "device_code": .string(gateway.sealer.seal(deviceCode)), "user_code": .string(userCode),
      "verification_uri": .string(uri), "expires_in": .integer(Int64(lifetime.count)),
      "interval": .integer(Int64(interval.count)),
      // Some libraries show this text to the user, although no RFC defines it.
      "message": .string("To sign in, open \(uri) in a web browser and enter the code \(userCode)."),
    ]
    if let completeURI { members["verification_uri_complete"] = .string(completeURI) }
    return tokenResponse(members)
  }
}
