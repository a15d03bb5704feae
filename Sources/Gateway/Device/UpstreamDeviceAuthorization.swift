import Enforcement
import HTTP
import JSON
import OAuth
import Policy
import Proxy
import Stores
import Time

/// A device authorization request that the upstream answers (RFC 8628, section 3.1). The gateway has checked the client,
/// and seals the device code of the response to it. The rest of the response is read strictly (`UpstreamDeviceAnswer`).
struct UpstreamDeviceAuthorization {
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
      if UpstreamTokenResponse.hasResult(status), let members = JSONValue.members(of: body), members["error"] == nil {
        return started(members)
      }
      let (parsed, isScreened) = UpstreamTokenResponse.read(
        status: status, headers: response.head.headers, body: body, screen: TokenResponseScreen(form),
        errors: intercepted.policy.upstream.errors)
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
    guard let answer = UpstreamDeviceAnswer(members),
      var upstream = UpstreamDeviceCode(
        code: answer.deviceCode, upstreamClientID: permit.client.upstream.clientID, scope: permit.scope,
        epoch: intercepted.gateway.resources.store.epoch)
    else { return intercepted.tokenRejection(.withoutRedirect(.upstreamFailed)) }
    upstream.upstreamAddress = intercepted.upstream.answeringAddress
    guard let uri = address(of: answer.page) else {
      return intercepted.tokenRejection(.withoutRedirect(.devicePageElsewhere))
    }
    let longest = permit.client.deviceCodeLifetime
    let lifetime = answer.lifetime.map { min($0, longest) } ?? longest
    let complete = permit.client.deviceCompleteURI ? answer.completePage.flatMap(address) : nil
    return intercepted.deviceAuthorizationResponse(
      DeviceCode(
        flow: intercepted.ensureTransactionID(), clientID: permit.client.id, expiry: intercepted.now + lifetime,
        resource: permit.resource?.uri.text, upstream: upstream),
      userCode: answer.userCode, uri: uri, completeURI: complete, lifetime: lifetime, interval: answer.interval)
  }

  private func address(of url: MetadataURL) -> String? {
    UpstreamDeviceAnswer.address(
      of: url, gateway: intercepted.policy.gateway.origin, upstream: intercepted.policy.upstream)
  }
}
