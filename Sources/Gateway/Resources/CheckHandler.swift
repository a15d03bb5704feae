import Enforcement
import HTTP
import HTTP1
import OAuth
import Policy
import Proxy
import Reactor
import Telemetry

/// Answers the requests of a proxy in front of a resource: whether the bearer token of a request is active for this
/// resource. For `auth_request` of nginx, `forward-auth` of other proxies and `ext_authz` of Envoy.
///
/// The resource comes from the listener's configuration, and the token only from the `Authorization` field. Method and
/// path are those of the original request with some proxies, and do not matter.
final class CheckHandler: AnsweringHandler {
  private let gateway: Gateway
  /// The resource of the listener; `nil` if the current policy no longer has a resource with this listener.
  private let resource: Resource?

  init(_ gateway: Gateway, _ resource: Resource?) {
    self.gateway = gateway
    self.resource = resource
  }

  var requestIDs: RequestIDs? { gateway.requestIDs }

  func route(_ head: RequestHead, _ bytes: Span<UInt8>, _ fields: HeadIndex, client: ClientFacts) -> Route {
    .intercept(bodyLimit: CheckHandler.bodyLimit)
  }

  /// The maximum length of a body, which is ignored. Proxies send none by default.
  private static let bodyLimit = 8_192

  func respond(to request: Request, routeTag: UInt8, upstream: Upstream) async -> Reply {
    let began = SystemClock.monotonicInstant()
    let trail = gateway.trail(for: request)
    trail.endpoint = .check
    guard gateway.reserveLine() else {
      gateway.countUnlogged(at: .check)
      return .response(refusal(.logUnavailable, nil, trail))
    }
    defer { gateway.releaseLine() }
    var response = await response(to: request, upstream, trail)
    response.headers.set(RequestReference.fieldName, trail.requestID)
    gateway.record(trail, status: response.status, peer: request.peer, began: began)
    return .response(response)
  }

  private func response(to request: Request, _ upstream: Upstream, _ trail: AuditTrail) async -> Response {
    guard let resource else { return refusal(.checkClosed, nil, trail) }
    let fields = request.headers.all("Authorization")
    guard !fields.isEmpty else { return refusal(.checkedTokenMissing, resource, trail) }
    guard fields.count == 1, let bearer = BearerToken(parsing: fields[0]) else {
      return refusal(.checkedTokenInactive, resource, trail)
    }
    do throws(TokenCheck.Failure) {
      let check = TokenCheck(gateway: gateway, upstream: upstream, peer: request.peer, trail: trail)
      guard let token = try await check.active(bearer.token, for: resource) else {
        return refusal(.checkedTokenInactive, resource, trail)
      }
      let granted = token.record.scope?.tokens ?? []
      guard resource.checkScopes.allSatisfy({ granted.contains($0[...]) }) else {
        return refusal(.checkedScopeInsufficient, resource, trail)
      }
      return permission(token)
    } catch {
      return switch error {
      case .store: refusal(.storeUnavailable, nil, trail)
      case .upstream: refusal(.upstreamUnavailable, nil, trail)
      }
    }
  }

  private func permission(_ token: TokenCheck.ActiveToken) -> Response {
    var response = CheckHandler.makeResponse(200)
    // Both fields are always present, empty if unknown: a proxy that only replaces fields would otherwise pass on those of
    // the client's request.
    response.headers.append("X-Proofgate-Client", token.client?.rawValue ?? "")
    response.headers.append("X-Proofgate-Scope", token.record.scope?.text ?? "")
    return response
  }

  /// Records a refusal and returns its response. If the request is for a resource, the response has a challenge (RFC
  /// 6750, section 3; RFC 9728, section 5.1).
  private func refusal(_ rejection: Rejection, _ resource: Resource?, _ trail: AuditTrail) -> Response {
    trail.recordRefusal(rejection)
    var response = CheckHandler.makeResponse(rejection.status)
    response.headers.append("X-Proofgate-Rule", rejection.ruleID)
    guard let resource else { return response }
    var parameters: [String] = []
    // RFC 6750, section 3.1: a request without credentials gets no error code.
    if rejection != .checkedTokenMissing { parameters.append("error=\"\(rejection.errorCode.rawValue)\"") }
    if rejection == .checkedScopeInsufficient {
      parameters.append("scope=\"\(resource.checkScopes.joined(separator: " "))\"")
    }
    if let address = ProtectedResources.address(of: resource, gateway.policy) {
      parameters.append("resource_metadata=\"\(address)\"")
    }
    if parameters.isEmpty { parameters.append("realm=\"proofgate\"") }
    response.headers.append("WWW-Authenticate", "Bearer " + parameters.joined(separator: ", "))
    return response
  }

  private static func makeResponse(_ status: Int) -> Response {
    var response = Response(status: status, headers: ["Cache-Control": "no-store"])
    if status == 503 { response.headers.append("Retry-After", "1") }
    return response
  }

  func failure(_ failure: ProxyFailure, as form: ErrorForm, request: RequestReference) -> Response {
    switch failure {
    case .request(let error): CheckHandler.makeResponse(error.status)
    case .timeout: CheckHandler.makeResponse(408)
    case .bodyTooLarge: CheckHandler.makeResponse(413)
    case .loop: CheckHandler.makeResponse(508)
    case .overloaded, .upstream: CheckHandler.makeResponse(503)
    }
  }
}
