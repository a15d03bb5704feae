import JSON
import OAuth
import Policy

/// The capabilities that the gateway offers to enforced clients, as metadata members (RFC 8414, section 2).
///
/// The gateway's metadata says exactly what is in this value. A feature adds its endpoint, grant or flag in
/// `init(policy:)`, if the policy switches it on and it can be used. The value depends only on the policy: an outage of
/// the store or of the upstream does not change the document.
struct OfferedCapabilities: Sendable {
  /// The issuer identifier, byte for byte as in the policy.
  let issuer: String
  /// The origin of the gateway.
  let origin: Origin
  /// The paths of each endpoint, by the name of its member. If the upstream's document names one of several paths, the
  /// gateway names the same one; otherwise it names the first.
  private(set) var endpoints: [String: [String]] = [:]
  /// The scopes that all clients may request, as far as the policy says; empty if there are none, so that the document
  /// names none; `nil` for those of the upstream's document.
  let scopes: [String]?
  /// The scopes that the gateway removes from the requests of every enforced client, so that no client can get them.
  let droppedScopes: Set<String>
  private(set) var grantTypes: Set<GrantType> = []
  private(set) var responseModes: Set<ResponseMode> = []
  private(set) var codeChallengeMethods: Set<CodeChallengeMethod> = [.s256]
  /// The values of `token_endpoint_auth_methods_supported`.
  private(set) var authenticationMethods: Set<String> = []
  /// The values of `introspection_endpoint_auth_methods_supported`; empty if the endpoint is not the gateway's own, and
  /// the upstream decides.
  private(set) var introspectionMethods: [String] = []
  private(set) var flags: [String: Bool] = [:]

  init(policy: Policy) {
    issuer = policy.gateway.issuer
    origin = policy.gateway.origin
    let clients = policy.clients.values.filter { $0.mode == .enforce }
    let unlisted = [policy.registration?.rules, policy.clientDocuments?.rules].compactMap(\.self)
    let dropped = OfferedCapabilities.droppedScopes(clients.map(\.upstream) + unlisted.map(\.upstream), policy)
    droppedScopes = dropped
    scopes = policy.gateway.supportedScopes ?? OfferedCapabilities.scopes(of: unlisted, policy)
    let paths = policy.upstream.endpoints
    offer("authorization_endpoint", at: paths.authorization)
    offer("token_endpoint", at: paths.token)
    offer("revocation_endpoint", at: paths.revocation)
    // A resource server that the policy lists asks the gateway; the server's own endpoint does not know for which
    // resource a token is.
    let isAskedByResources = ResourceIntrospectionEndpoint.isOpen(policy)
    offer(
      "introspection_endpoint", at: isAskedByResources ? [ResourceIntrospectionEndpoint.path] : paths.introspection)
    if isAskedByResources { introspectionMethods = OfferedCapabilities.secretMethods }
    for client in clients { add(client) }
    // RFC 9126, section 5.
    if clients.contains(where: { $0.pushedAuthorization != .off }), !paths.pushedAuthorization.isEmpty {
      offer("pushed_authorization_request_endpoint", at: paths.pushedAuthorization)
      // Clients that the policy does not list cannot push requests.
      let hasUnlisted = policy.registration != nil || policy.clientDocuments != nil
      if !hasUnlisted,
        clients.allSatisfy({ $0.pushedAuthorization == .required || !$0.grants.contains(.authorizationCode) })
      {
        flags["require_pushed_authorization_requests"] = true
      }
    }
    if let registration = policy.registration {
      offer("registration_endpoint", at: [registration.path])
      addUnlistedClients()
      if registration.issuesSecrets { authenticationMethods.formUnion(OfferedCapabilities.secretMethods) }
    }
    if policy.clientDocuments != nil {
      flags["client_id_metadata_document_supported"] = true
      addUnlistedClients()
    }
    // RFC 8628, section 4.
    offer("device_authorization_endpoint", at: policy.deviceAuthorizationPaths)
    // RFC 9207, section 3.
    flags["authorization_response_iss_parameter_supported"] = true
    // The second flag is true if it is missing (OpenID Connect Discovery, section 3). A `request_uri` of RFC 9126 is
    // not meant by it.
    flags["request_parameter_supported"] = false
    flags["request_uri_parameter_supported"] = false
    // The default of each of these members would offer the implicit grant, fragments, or no public clients.
    if grantTypes.isEmpty { grantTypes = [.authorizationCode] }
    if responseModes.isEmpty { responseModes = [.query] }
    if authenticationMethods.isEmpty { authenticationMethods = ["none"] }
  }

  /// Returns the scopes that each unlisted client may request and that the upstream gets; `nil` if the policy permits no
  /// such clients.
  ///
  /// Programs that do not know the server request what the document names. The requests of listed clients are not limited,
  /// so they do not matter here.
  private static func scopes(of rules: [UnlistedClientRules], _ policy: Policy) -> [String]? {
    guard let first = rules.first else { return nil }
    return first.scopes.filter { scope in
      rules.allSatisfy { other in
        other.scopes.contains(scope)
          && !(other.upstream.scopes?.drop ?? policy.upstream.scopes?.drop ?? []).contains(scope)
      }
    }
  }

  /// Returns the scopes that are dropped for each of the upstream clients.
  private static func droppedScopes(_ clients: [UpstreamClient], _ policy: Policy) -> Set<String> {
    let common = policy.upstream.scopes?.drop ?? []
    guard let first = clients.first else { return common }
    var dropped = first.scopes?.drop ?? common
    for client in clients.dropFirst() where !dropped.isEmpty {
      dropped.formIntersection(client.scopes?.drop ?? common)
    }
    return dropped
  }

  /// Adds an endpoint; no effect without a path.
  mutating func offer(_ member: String, at paths: [String]) {
    if !paths.isEmpty { endpoints[member] = paths }
  }

  /// Adds the capabilities of clients that the policy does not list (`UnlistedClientRules`).
  private mutating func addUnlistedClients() {
    grantTypes.formUnion([.authorizationCode, .refreshToken])
    responseModes.insert(.query)
    authenticationMethods.insert("none")
  }

  private mutating func add(_ client: Client) {
    // No client may use the password grant.
    grantTypes.formUnion(client.grants.subtracting([.password]))
    if client.grants.contains(.authorizationCode) {
      responseModes.formUnion(client.responseModes)
      codeChallengeMethods.formUnion(client.pkceMethods)
    }
    switch client.kind {
    case .public: authenticationMethods.insert("none")
    // Credentials that only the upstream can verify may have other forms, such as assertions. An assertion names the
    // upstream as its audience, so a client cannot learn from this document how to make it.
    case .confidential: authenticationMethods.formUnion(OfferedCapabilities.secretMethods)
    }
  }

  /// The methods of authentication with a secret that the gateway compares (RFC 7591, section 2).
  static let secretMethods = ["client_secret_basic", "client_secret_post"]

  /// Returns the members of the document. No value is an empty list (RFC 8414, section 3.2).
  ///
  /// - Parameter preferredPaths: The path of each endpoint in the upstream's document, by the name of its member.
  func members(preferring preferredPaths: [String: String] = [:]) -> [String: JSONValue] {
    var members: [String: JSONValue] = [
      "issuer": .string(issuer),
      "response_types_supported": OfferedCapabilities.list(["code"]),
      "response_modes_supported": OfferedCapabilities.list(
        ResponseMode.allCases.filter(responseModes.contains).map(\.rawValue)),
      "grant_types_supported": OfferedCapabilities.list(
        GrantType.allCases.filter(grantTypes.contains).map(\.rawValue)),
      "code_challenge_methods_supported": OfferedCapabilities.list(
        CodeChallengeMethod.allCases.filter(codeChallengeMethods.contains).map(\.rawValue)),
      "token_endpoint_auth_methods_supported": OfferedCapabilities.list(authenticationMethods.sorted()),
    ]
    if endpoints["revocation_endpoint"] != nil {
      members["revocation_endpoint_auth_methods_supported"] = members["token_endpoint_auth_methods_supported"]
    }
    if !introspectionMethods.isEmpty {
      members["introspection_endpoint_auth_methods_supported"] = OfferedCapabilities.list(introspectionMethods)
    }
    if let scopes, !scopes.isEmpty { members["scopes_supported"] = OfferedCapabilities.list(scopes) }
    for (name, flag) in flags { members[name] = .bool(flag) }
    for (name, paths) in endpoints {
      guard let first = paths.first else { continue }
      let path = preferredPaths[name].flatMap { paths.contains($0) ? $0 : nil } ?? first
      members[name] = .string(origin.description + path)
    }
    return members
  }

  private static func list(_ values: [String]) -> JSONValue { .array(values.map(JSONValue.string)) }
}
