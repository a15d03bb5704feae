import Enforcement
import JSON
import OAuth
import Policy

/// The reason why a registration request is refused.
struct MetadataProblem: Error {
  let rejection: Rejection
  /// The text for the developer of the client. It contains nothing of the request.
  let detail: String

  static func metadata(_ detail: String) -> MetadataProblem {
    MetadataProblem(rejection: .registrationMetadata, detail: detail)
  }

  static func redirectURI(_ detail: String) -> MetadataProblem {
    MetadataProblem(rejection: .registrationRedirectURI, detail: detail)
  }
}

/// The strict reader of client metadata (RFC 7591, section 2). Members that no rule uses are ignored (section 2), and
/// nothing is ever fetched.
extension ClientMetadata {
  /// The maximum length of the JSON text, in bytes. Today's clients send less than 2 KiB.
  static let maximumJSONLength = 16_384

  /// Reads the metadata. The redirect URIs keep their order.
  ///
  /// - Parameter permits: Returns true if the policy permits the redirect URI to a client of the type. The others are
  ///   left out (section 3.2.1: the server may replace values).
  init(
    _ members: [String: JSONValue], permits: (RedirectURI, ApplicationType) -> Bool
  ) throws(MetadataProblem) {
    let given = try ClientMetadata.redirectURIs(members["redirect_uris"])
    let type = try ClientMetadata.applicationType(members["application_type"], given.valid)
    let permitted = given.valid.filter { permits($0, type) }
    guard !permitted.isEmpty else {
      throw .redirectURI(given.problem?.description ?? "the policy permits none of the redirect URIs")
    }
    let usesRefreshTokens = try ClientMetadata.usesRefreshTokens(members)
    // A method that is not offered is replaced (section 3.2.1), so only the type of the value matters.
    _ = try ClientMetadata.secretMethod(members)
    self.init(
      name: try ClientMetadata.name(members["client_name"]), applicationType: type, redirectURIs: permitted,
      scope: try ClientMetadata.scope(members["scope"]), usesRefreshTokens: usesRefreshTokens)
  }

  /// Returns the members of a JSON object. A member that is `null` counts as omitted: the section defines no meaning for
  /// it, and some libraries write each member that has no value.
  static func members(json bytes: [UInt8]) throws(MetadataProblem) -> [String: JSONValue] {
    guard bytes.count <= maximumJSONLength, let members = JSONValue.members(of: bytes, .strict) else {
      throw .metadata(
        "the body is not a JSON object in UTF-8 of at most \(maximumJSONLength) bytes, repeats a member, or begins "
          + "with a byte order mark")
    }
    return members.filter { $0.value != .null }
  }

  /// Returns the method of authentication with a secret that the client requests; `nil` if it requests none or one that
  /// is not offered. The default is `client_secret_basic` (section 2).
  static func secretMethod(_ members: [String: JSONValue]) throws(MetadataProblem) -> String? {
    guard let value = members["token_endpoint_auth_method"] else { return OfferedCapabilities.secretMethods.first }
    guard let method = value.text else { throw .metadata("token_endpoint_auth_method is not a string") }
    return OfferedCapabilities.secretMethods.contains(method) ? method : nil
  }

  /// The metadata in the form that is sealed: equal for equal content, whatever the order of its lists.
  var canonical: ClientMetadata {
    var canonical = self
    canonical.redirectURIs.sort { $0.text.utf8.lexicographicallyPrecedes($1.text.utf8) }
    if let scope { canonical.scope = Scope(parsing: scope.tokens.sorted().joined(separator: " ")) }
    return canonical
  }

  private static func redirectURIs(
    _ value: JSONValue?
  ) throws(MetadataProblem) -> (valid: [RedirectURI], problem: RedirectURIError?) {
    guard case .array(let items)? = value, !items.isEmpty else {
      throw .redirectURI("redirect_uris must be a list with at least one URI")
    }
    guard items.count <= maximumRedirectURIs else {
      throw .redirectURI("redirect_uris has more than \(maximumRedirectURIs) URIs")
    }
    var valid: [RedirectURI] = []
    var problem: RedirectURIError?
    for item in items {
      guard let text = item.text else { throw .redirectURI("an item of redirect_uris is not a string") }
      do {
        let uri = try RedirectURI(parsing: text)
        if !valid.contains(uri) { valid.append(uri) }
      } catch {
        problem = problem ?? error
      }
    }
    return (valid, problem)
  }

  /// Returns the type that the client states. If it states none, a client with only https redirect URIs is a web
  /// client, and any other is native: only a native app may have the other kinds.
  private static func applicationType(
    _ value: JSONValue?, _ uris: [RedirectURI]
  ) throws(MetadataProblem) -> ApplicationType {
    if let value {
      guard let type = value.text.flatMap(ApplicationType.init(rawValue:)) else {
        throw .metadata("application_type must be native or web")
      }
      return type
    }
    let isWeb = uris.allSatisfy { uri in
      guard case .https = uri.kind else { return false }
      return true
    }
    return isWeb ? .web : .native
  }

  /// Reads `grant_types` and `response_types`, which must agree (RFC 7591, section 2.1). Grants that are not offered
  /// are left out, but not the implicit and the password grant: a client that relies on them cannot work.
  private static func usesRefreshTokens(_ members: [String: JSONValue]) throws(MetadataProblem) -> Bool {
    let grants = try texts(members["grant_types"], "grant_types") ?? [GrantType.authorizationCode.rawValue]
    let responses = try texts(members["response_types"], "response_types") ?? ["code"]
    guard grants.contains(GrantType.authorizationCode.rawValue), !grants.contains("implicit"),
      !grants.contains(GrantType.password.rawValue)
    else { throw .metadata("grant_types must be authorization_code, with or without refresh_token") }
    guard responses.allSatisfy({ $0 == "code" }), !responses.isEmpty else {
      throw .metadata("response_types must be code")
    }
    return grants.contains(GrantType.refreshToken.rawValue)
  }

  private static func texts(_ value: JSONValue?, _ name: String) throws(MetadataProblem) -> [String]? {
    guard let value else { return nil }
    guard case .array(let items) = value, items.count <= 16, items.allSatisfy({ $0.text != nil }) else {
      throw .metadata("\(name) must be a list of strings")
    }
    return items.compactMap(\.text)
  }

  private static func name(_ value: JSONValue?) throws(MetadataProblem) -> String? {
    guard let value else { return nil }
    guard let text = value.text else { throw .metadata("client_name is not a string") }
    return displayable(text)
  }

  private static func scope(_ value: JSONValue?) throws(MetadataProblem) -> Scope? {
    guard let value else { return nil }
    guard let text = value.text else { throw .metadata("scope is not a string") }
    if text.isEmpty { return nil }
    guard let scope = Scope(parsing: text) else { throw .metadata("scope is not a list of scope tokens") }
    return scope
  }
}
