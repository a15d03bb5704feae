internal import ByteText
import Cryptography
import Enforcement
import HTTP
import JSON
import OAuth
import Policy
import Proxy
import Stores
import Telemetry
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
    // Programs without the token do not use up the limits of those that have it.
    if let expected = ids.settings.initialAccessToken, !isAuthorized(expected) { return refuseUnauthorized() }
    if let throttled = intercepted.throttledRegistration() { return throttled }
    guard isJSON else {
      return refuse(.metadata("the body must be application/json, without a content coding"))
    }
    do throws(MetadataProblem) {
      let rules = ids.settings.rules
      let members = try ClientMetadata.members(json: request.body)
      let requested = try ClientMetadata(members) { rules.permits($0, $1) }
      guard let metadata = rules.permitted(requested) else {
        return refuse(.metadata("the policy permits none of the requested scopes"))
      }
      let method = ids.settings.issuesSecrets ? try ClientMetadata.secretMethod(members) : nil
      let instance = method == nil ? nil : intercepted.gateway.random.take(ClientRegistration.instanceLength)
      guard let id = ids.issue(metadata.canonical, instance: instance, now: intercepted.now) else {
        return refuse(.metadata("the metadata is too long"))
      }
      // A denied client does not learn that the policy names it.
      guard let client = ids.client(id.rawValue) else {
        return refuse(.metadata("the policy does not permit this client"))
      }
      intercepted.recordClient(id: id.rawValue)
      if metadata.redirectURIs.contains(where: \.isLocalhost) {
        intercepted.trail.findings.append("localhost-redirect")
      }
      return intercepted.registrationResponse(client, metadata, method: method)
    } catch {
      return refuse(error)
    }
  }

  private var isJSON: Bool {
    let types = request.headers.all("Content-Type")
    guard types.count == 1, let type = types.first, type.utf8.count <= 256,
      request.headers.all("Content-Encoding").isEmpty
    else {
      return false
    }
    return type.asciiReading.prefix { $0 != ";" }.lowercased().split(separator: " ") == ["application/json"]
  }

  /// Returns true if the request has the initial access token (RFC 6750, section 2.1), once.
  private func isAuthorized(_ expected: Secret) -> Bool {
    let fields = request.headers.all("Authorization")
    guard fields.count == 1, let field = fields.first?.utf8,
      field.prefix(7).elementsEqual("bearer ".utf8, by: { $0.lowercasedASCII == $1 })
    else { return false }
    return constantTimeEqual(Array(field.dropFirst(7)), Array(expected.reveal().utf8))
  }

  private func refuseUnauthorized() -> Response {
    var response = intercepted.tokenRejection(.withoutRedirect(.registrationUnauthorized))
    // RFC 6750, section 3.1: the field has no error code if the request has no token.
    let error = request.headers.contains("Authorization") ? ", error=\"invalid_token\"" : ""
    response.headers.set("WWW-Authenticate", "Bearer realm=\"proofgate\"" + error)
    return response
  }

  /// Returns the response to a request whose body was not read, because it is longer than `limits.body`.
  static func response(toBodyLongerThan limit: Int) -> Response {
    let members: [String: JSONValue] = [
      "error": .string(OAuthErrorCode.invalidClientMetadata.rawValue),
      "error_description": .string("the body is longer than \(limit) bytes"),
    ]
    return Response(
      status: 400,
      headers: [
        "Content-Type": "application/json", "Cache-Control": "no-store", "Pragma": "no-cache",
        "X-Content-Type-Options": "nosniff", "X-Proofgate-Rule": Rejection.registrationMetadata.ruleID,
      ],
      body: JSONValue.text(of: members))
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
  /// addresses. Loopback has no limit of its own: behind a proxy on this machine that is not in `trusted_proxies`, all
  /// programs seem to be in one network.
  func throttledRegistration() -> Response? {
    let limits = policy.gateway.limits
    let resources = gateway.resources
    if limits.registrationsPerNetwork > 0, !request.peer.isLoopback,
      let response = throttled(
        RateKey(network: request.peer.address), by: resources.registrationsPerNetwork,
        perMinute: limits.registrationsPerNetwork, .registrationsPerNetwork)
    {
      return response
    }
    guard limits.registrations > 0 else { return nil }
    return throttled(RateKey(), by: resources.registrations, perMinute: limits.registrations, .registrations)
  }

  /// Returns the response to a registration: the id, the secret if there is one, and the metadata in force (RFC 7591,
  /// section 3.2.1).
  ///
  /// - Parameter method: The authentication method of a client with a secret; `nil` for a public client.
  func registrationResponse(_ client: Client, _ metadata: ClientMetadata, method: String?) -> Response {
    let grants: [GrantType] = [.authorizationCode] + (metadata.usesRefreshTokens ? [.refreshToken] : [])
    var members: [String: JSONValue] = [
      "client_id": .string(client.id.rawValue),
      "client_id_issued_at": .integer(now.seconds),
      "redirect_uris": .array(metadata.redirectURIs.map { .string($0.text) }),
      "grant_types": .array(grants.map { .string($0.rawValue) }),
      "response_types": .array([.string("code")]),
      "token_endpoint_auth_method": .string(method ?? "none"),
      "application_type": .string(metadata.applicationType.rawValue),
    ]
    if let secret = client.secret {
      members["client_secret"] = .string(secret.reveal())
      // The secret does not expire. It ends with the id.
      members["client_secret_expires_at"] = .integer(0)
    }
    if let name = metadata.name { members["client_name"] = .string(name) }
    if let scope = metadata.scope ?? client.upstream.scopes?.defaultScope { members["scope"] = .string(scope.text) }
    return json(201, members)
  }
}
