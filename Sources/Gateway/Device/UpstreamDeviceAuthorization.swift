internal import ByteText
import Enforcement
import HTTP
import JSON
import OAuth
import Policy
import Proxy
import Stores
import Time

/// A device authorization request that the upstream answers (RFC 8628, section 3.1). The gateway has checked the client,
/// and seals the device code of the response to it. The rest of the response is read strictly: only the members of RFC
/// 8628, section 3.2, go to the device.
struct UpstreamDeviceAuthorization {
  /// The longest user code that the gateway accepts, in bytes. A user has to type it.
  private static let maximumUserCodeLength = 64
  /// The longest interval between two polls. A device that waited longer would seem to hang.
  private static let maximumInterval: Seconds = 60

  private let intercepted: InterceptedRequest
  private let permit: DeviceAuthorizationPermit

  init(_ intercepted: InterceptedRequest, _ permit: DeviceAuthorizationPermit) {
    self.intercepted = intercepted
    self.permit = permit
  }

  /// Sends the request upstream at the path of the device's request.
  func respond(_ form: UpstreamTokenRequest) async -> Response {
    do throws(UpstreamFailure) {
      let response = try await intercepted.post(form, to: String(intercepted.request.path))
      let status = response.head.status
      intercepted.trail.upstreamStatus = status
      let body = try await response.content()
      if (200..<300).contains(status), let members = JSONValue.members(of: body), members["error"] == nil {
        return started(members)
      }
      let (parsed, isScreened) = UpstreamTokenResponse.read(
        status: status, headers: response.head.headers, body: body, screen: TokenResponseScreen(form))
      if isScreened { intercepted.trail.findings.append("answer-screened") }
      if case .error(.invalidClient, _) = parsed { intercepted.countFailedCredentials(form.presentedCredentials) }
      if case .tokens = parsed { return intercepted.tokenRejection(.withoutRedirect(.upstreamFailed)) }
      return intercepted.relay(
        InterceptedRequest.ReceivedTokenResponse(status: status, parsed: parsed),
        usedGatewayCredentials: form.usesGatewayCredentials)
    } catch {
      return intercepted.tokenFailure(error)
    }
  }

  /// Returns the response to the device, or the refusal of a response that is not usable.
  private func started(_ members: [String: JSONValue]) -> Response {
    guard let code = members["device_code"]?.text, let userCode = members["user_code"]?.text,
      (1...UpstreamDeviceAuthorization.maximumUserCodeLength).contains(userCode.utf8.count),
      userCode.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }),
      // Some servers have the name of an early draft.
      let page = UpstreamDeviceAuthorization.page(in: members["verification_uri"] ?? members["verification_url"]),
      let upstream = UpstreamDeviceCode(
        code: Secret(code), upstreamClientID: permit.client.upstream.clientID, scope: permit.scope,
        epoch: intercepted.gateway.resources.store.epoch)
    else { return intercepted.tokenRejection(.withoutRedirect(.upstreamFailed)) }
    guard let uri = address(of: page) else {
      return intercepted.tokenRejection(.withoutRedirect(.devicePageElsewhere))
    }
    let longest = permit.client.deviceCodeLifetime
    let lifetime = UpstreamDeviceAuthorization.seconds(members["expires_in"]).map { min($0, longest) } ?? longest
    let interval = UpstreamDeviceAuthorization.seconds(members["interval"]) ?? DeviceFlow.initialInterval
    let completePage = UpstreamDeviceAuthorization.page(in: members["verification_uri_complete"])
    let complete = permit.client.deviceCompleteURI ? completePage.flatMap(address) : nil
    return intercepted.deviceAuthorizationResponse(
      DeviceCode(
        flow: intercepted.ensureTransactionID(), clientID: permit.client.id, expiry: intercepted.now + lifetime,
        upstream: upstream),
      userCode: userCode, uri: uri, completeURI: complete, lifetime: lifetime,
      interval: min(interval, UpstreamDeviceAuthorization.maximumInterval))
  }

  /// Returns the address of a page in the upstream's response; `nil` if the value is not an http or https URL.
  private static func page(in value: JSONValue?) -> MetadataURL? {
    value?.text.flatMap(MetadataURL.init(parsing:))
  }

  /// Returns the address of a page of the upstream as browsers reach it: the upstream's own address, which may be
  /// hidden, becomes that of the gateway. Returns `nil` for a page of another host, to which an upstream that is
  /// compromised or misled by a `Host` field could send users.
  private func address(of url: MetadataURL) -> String? {
    let gateway = intercepted.policy.gateway.origin
    let isHidden =
      url.origin.host == intercepted.policy.upstream.origin.host && url.origin.host != gateway.host
      || url.origin == intercepted.policy.upstream.origin
    return isHidden || url.origin == gateway ? gateway.description + url.target : nil
  }

  /// Returns a positive number of seconds, which may be a text.
  private static func seconds(_ value: JSONValue?) -> Seconds? {
    let number: Int64? =
      switch value {
      case .integer(let number): number
      case .string(let text): Int64(text)
      default: nil
      }
    return number.flatMap { (1...1_000_000).contains($0) ? Seconds(Int($0)) : nil }
  }
}
