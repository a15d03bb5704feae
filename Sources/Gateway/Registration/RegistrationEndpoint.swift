import Cryptography
import Enforcement
import HTTP
import OAuth
import Policy
import Proxy
import Reactor
import Stores
import Time

/// The client registration endpoint (RFC 7591). The gateway stores nothing: the `client_id` in the response contains
/// the metadata in force, sealed.
struct RegistrationEndpoint {
  private let intercepted: InterceptedRequest
  private var request: Request { intercepted.request }

  init(_ intercepted: InterceptedRequest) {
    self.intercepted = intercepted
  }

  func respond() -> Reply {
    .response(answer())
  }

  private func answer() -> Response {
    // Not reached without `ids`: the endpoint exists only with `registration`, and the key file has a key then.
    guard let ids = intercepted.gateway.registrations else {
      return intercepted.tokenRejection(.withoutRedirect(.endpointDisabled))
    }
    guard request.method == "POST" else { return intercepted.tokenRejection(.withoutRedirect(.methodNotAllowed)) }
    if let throttled = intercepted.throttledRegistration() { return throttled }
    if let expected = ids.settings.initialAccessToken, !isAuthorized(expected) { return refuseUnauthorized() }
    guard isJSON else {
      return refuse(.metadata("the body must be application/json, without a content coding"))
    }
    do throws(MetadataProblem) {
      let rules = ids.settings.rules
      let requested = try ClientMetadata(json: request.body) { rules.permits($0, $1) }
      guard let metadata = rules.permitted(requested) else {
        return refuse(.metadata("the policy permits none of the requested scopes"))
      }
      guard let id = ids.issue(metadata.canonical, now: intercepted.now) else {
        return refuse(.metadata("the metadata is too long"))
      }
      // A denied client does not learn that the policy names it.
      guard let client = rules.client(id, metadata.canonical) else {
        return refuse(.metadata("the policy does not permit this client"))
      }
      intercepted.recordClient(id: id.rawValue)
      if metadata.redirectURIs.contains(where: \.isLocalhost) {
        intercepted.trail.findings.append("localhost-redirect")
      }
      return intercepted.registrationResponse(client, metadata)
    } catch {
      return refuse(error)
    }
  }

  private var isJSON: Bool {
    let types = request.headers.all("Content-Type")
    guard types.count == 1, let type = types.first, request.headers.all("Content-Encoding").isEmpty else {
      return false
    }
    return type.prefix { $0 != ";" }.lowercased().split(separator: " ") == ["application/json"]
  }

  /// Returns true if the request has the initial access token (RFC 6750, section 2.1), once.
  private func isAuthorized(_ expected: Secret) -> Bool {
    let fields = request.headers.all("Authorization")
    guard fields.count == 1, let field = fields.first, field.lowercased().hasPrefix("bearer ") else { return false }
    return constantTimeEqual(Array(field.utf8.dropFirst(7)), Array(expected.reveal().utf8))
  }

  private func refuseUnauthorized() -> Response {
    var response = intercepted.tokenRejection(.withoutRedirect(.registrationUnauthorized))
    response.headers.set("WWW-Authenticate", "Bearer realm=\"proofgate\"")
    return response
  }

  private func refuse(_ problem: MetadataProblem) -> Response {
    var response = intercepted.tokenError(
      problem.rejection.errorCode, status: problem.rejection.status, description: problem.detail)
    intercepted.trail.recordRefusal(problem.rejection)
    response.headers.append("X-Proofgate-Rule", problem.rejection.ruleID)
    return response
  }
}

extension InterceptedRequest {
  /// Counts a registration request, for its network and for all. Returns the response for a request beyond a limit;
  /// `nil` within the limits.
  ///
  /// The limits are for networks, not for addresses: a web application registers clients for all its users from a few
  /// addresses.
  func throttledRegistration() -> Response? {
    let now = SystemClock.monotonicTime()
    let resources = gateway.resources
    let key = RateKey(network: request.peer.address)
    if !resources.registrationsPerNetwork.take(key, now: now) {
      return throttled(after: resources.registrationsPerNetwork.retryAfter(key, now: now))
    }
    if !resources.registrations.take(RateKey(), now: now) {
      return throttled(after: resources.registrations.retryAfter(RateKey(), now: now))
    }
    return nil
  }

  private func throttled(after wait: Seconds?) -> Response {
    trail.recordRefusal(.tooManyRequests)
    return tokenThrottled("too many registrations", retryAfter: wait ?? 1)
  }

  /// Returns the response to a registration: the id and the metadata in force (RFC 7591, section 3.2.1).
  func registrationResponse(_ client: Client, _ metadata: ClientMetadata) -> Response {
    let grants: [GrantType] = [.authorizationCode] + (metadata.usesRefreshTokens ? [.refreshToken] : [])
    var members: [String: JSONValue] = [
      "client_id": .string(client.id.rawValue),
      "client_id_issued_at": .integer(now.seconds),
      "redirect_uris": .array(metadata.redirectURIs.map { .string($0.text) }),
      "grant_types": .array(grants.map { .string($0.rawValue) }),
      "response_types": .array([.string("code")]),
      "token_endpoint_auth_method": .string("none"),
      "application_type": .string(metadata.applicationType.rawValue),
    ]
    if let name = metadata.name { members["client_name"] = .string(name) }
    if let scope = metadata.scope ?? client.upstream.scopes?.defaultScope { members["scope"] = .string(scope.text) }
    return json(201, members)
  }
}
