import HTTP
import HTTP1
import OAuth
import Policy
import Proxy

/// Answers the requests of a proxy in front of a resource: whether the bearer token of a request is active for this
/// resource. For `auth_request` of nginx, `forward-auth` of other proxies and `ext_authz` of Envoy.
///
/// The resource comes from the listener's configuration, and the token only from the `Authorization` field. Method and
/// path are those of the original request with some proxies, and do not matter.
final class CheckHandler: RequestHandler {
  private let gateway: Gateway
  /// The resource of the listener; `nil` if the current policy no longer has a resource with this listener.
  private let resource: Resource?

  init(_ gateway: Gateway, _ resource: Resource?) {
    self.gateway = gateway
    self.resource = resource
  }

  func route(_ head: RequestHead, _ bytes: Span<UInt8>, _ fields: HeadIndex, client: ClientFacts) -> Route {
    .intercept(bodyLimit: CheckHandler.bodyLimit)
  }

  /// The maximum length of a body, which is ignored. Proxies send none by default.
  private static let bodyLimit = 8_192

  func respond(to request: Request, routeTag: UInt8, upstream: Upstream) async -> Reply {
    .response(await response(to: request, upstream))
  }

  private func response(to request: Request, _ upstream: Upstream) async -> Response {
    guard let resource else { return CheckHandler.makeResponse(503) }
    let fields = request.headers.all("Authorization")
    // RFC 6750, section 3.1: a request without credentials gets no error code.
    guard !fields.isEmpty else { return refusal(401, nil, resource) }
    guard fields.count == 1, let bearer = BearerToken(parsing: fields[0]) else {
      return refusal(401, "invalid_token", resource)
    }
    do throws(TokenCheck.Failure) {
      let check = TokenCheck(gateway: gateway, upstream: upstream, peer: request.peer)
      guard let token = try await check.active(bearer.token, for: resource) else {
        return refusal(401, "invalid_token", resource)
      }
      let granted = token.record.scope?.tokens ?? []
      guard resource.checkScopes.allSatisfy({ granted.contains($0[...]) }) else {
        return refusal(403, "insufficient_scope", resource)
      }
      return permission(token)
    } catch {
      return CheckHandler.makeResponse(503)
    }
  }

  private func permission(_ token: TokenCheck.ActiveToken) -> Response {
    var response = CheckHandler.makeResponse(200)
    if let client = token.client { response.headers.append("X-Proofgate-Client", client.rawValue) }
    if let scope = token.record.scope { response.headers.append("X-Proofgate-Scope", scope.text) }
    return response
  }

  /// Returns the refusal with its challenge (RFC 6750, section 3; RFC 9728, section 5.1).
  private func refusal(_ status: Int, _ error: String?, _ resource: Resource) -> Response {
    var parameters: [String] = []
    if let error { parameters.append("error=\"\(error)\"") }
    if status == 403 { parameters.append("scope=\"\(resource.checkScopes.joined(separator: " "))\"") }
    if let address = ProtectedResources.address(of: resource, gateway.policy) {
      parameters.append("resource_metadata=\"\(address)\"")
    }
    if parameters.isEmpty { parameters.append("realm=\"proofgate\"") }
    var response = CheckHandler.makeResponse(status)
    response.headers.append("WWW-Authenticate", "Bearer " + parameters.joined(separator: ", "))
    return response
  }

  private static func makeResponse(_ status: Int) -> Response {
    var response = Response(status: status, headers: ["Cache-Control": "no-store"])
    if status == 503 { response.headers.append("Retry-After", "1") }
    return response
  }

  /// Not called, like the next two functions: the proxy calls them only for responses to forwarded requests, and this
  /// listener forwards none.
  func passingLocation(_ location: String, requestHasHandlerCookie: Bool, requestNumber: UInt64) -> LocationVerdict {
    .withhold
  }

  func respond(to withheld: WithheldResponse, upstream: Upstream) async -> Response { Response(status: 502) }
  func editPassing(_ response: inout Response) {}

  func failure(_ failure: ProxyFailure, as form: ErrorForm) -> Response {
    switch failure {
    case .request(let error): CheckHandler.makeResponse(error.status)
    case .timeout: CheckHandler.makeResponse(408)
    case .bodyTooLarge: CheckHandler.makeResponse(413)
    case .loop: CheckHandler.makeResponse(508)
    case .overloaded, .upstream: CheckHandler.makeResponse(503)
    }
  }
}
