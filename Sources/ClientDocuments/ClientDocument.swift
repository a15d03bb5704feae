internal import JSON
public import OAuth

/// The parser of client ID metadata documents (draft-ietf-oauth-client-id-metadata-document, section 4).
///
/// No URL in a document is ever fetched: logos, keys and other members are ignored.
public enum ClientDocument {
  /// The maximum length of a document in bytes, as the draft recommends.
  public static let maximumLength = 5 * 1024

  /// Parses a document. Throws `DocumentFailure.invalid` for the first violation that is found.
  ///
  /// - Parameters:
  ///   - bytes: The body of the response.
  ///   - url: The URL from which the document was fetched, which the document must contain as its `client_id`.
  public static func metadata(
    in bytes: [UInt8], at url: ClientDocumentURL
  ) throws(DocumentFailure) -> ClientMetadata {
    guard bytes.count <= maximumLength else { throw .invalid("it is longer than \(maximumLength) bytes") }
    guard let members = JSONValue.members(of: bytes, .strict) else {
      throw .invalid("it is not one JSON object with unique members")
    }
    guard let id = try text(members, "client_id"), id.utf8.elementsEqual(url.text.utf8) else {
      throw .invalid("its `client_id` is not the URL from which it was fetched")
    }
    // Section 4.1: a client without a way to establish a secret cannot have a method that is based on one.
    guard members["client_secret"] == nil, members["client_secret_expires_at"] == nil else {
      throw .invalid("it contains a client secret")
    }
    try checkMethods(members)
    if let types = try list(members, "response_types"), !types.contains("code") {
      throw .invalid("its `response_types` lack `code`")
    }
    // The default of RFC 7591, section 2.
    let grants = try list(members, "grant_types") ?? ["authorization_code"]
    guard grants.contains("authorization_code") else { throw .invalid("its `grant_types` lack `authorization_code`") }
    let uris = try redirectURIs(members)
    let metadata = ClientMetadata(
      name: try name(members), applicationType: try applicationType(members, uris), redirectURIs: uris,
      relatedURIs: try homepage(members), scope: try scope(members), usesRefreshTokens: grants.contains("refresh_token")
    )
    guard metadata.deniableNameCount <= ClientMetadata.maximumRelatedURIs else {
      throw .invalid("its URIs have more than \(ClientMetadata.maximumRelatedURIs) hosts and schemes")
    }
    return metadata
  }

  /// Refuses a client that cannot be a public one. A document may state several methods of authentication for different
  /// servers in `token_endpoint_auth_methods_supported` (MCP SEP-3149). The gateway offers `none` to clients with a
  /// document, so such a client uses `none`, whatever it prefers elsewhere.
  private static func checkMethods(_ members: [String: JSONValue]) throws(DocumentFailure) {
    let preferred = try text(members, "token_endpoint_auth_method")
    let supported = try list(members, "token_endpoint_auth_methods_supported")
    let lacksNone = supported.map { !$0.contains("none") } ?? (preferred != nil)
    guard lacksNone, preferred != "none" else { return }
    throw .invalid(
      "neither its `token_endpoint_auth_method` nor its `token_endpoint_auth_methods_supported` has `none`, the only "
        + "method that the gateway offers to such clients")
  }

  /// Returns the outline of the `client_uri`, for a deny-list of hosts. It is never fetched or shown. A document whose
  /// `client_uri` has no host that a list could name is refused.
  private static func homepage(_ members: [String: JSONValue]) throws(DocumentFailure) -> [RedirectURI] {
    guard let text = try text(members, "client_uri"), !text.isEmpty else { return [] }
    guard let uri = RedirectURI(outlineOfHomepage: text) else {
      throw .invalid("its `client_uri` is not an absolute URL of the scheme `https` or `http`")
    }
    return [uri]
  }

  private static func redirectURIs(_ members: [String: JSONValue]) throws(DocumentFailure) -> [RedirectURI] {
    var uris: [RedirectURI] = []
    for text in try list(members, "redirect_uris") ?? [] {
      // A document may list redirect URIs for other servers, such as those of new platforms. Only the others count.
      guard let uri = try? RedirectURI(parsing: text), !uris.contains(where: { $0.text == text }) else { continue }
      uris.append(uri)
    }
    guard !uris.isEmpty else { throw .invalid("its `redirect_uris` contain no acceptable URI") }
    return uris
  }

  private static func name(_ members: [String: JSONValue]) throws(DocumentFailure) -> String? {
    try text(members, "client_name").flatMap { ClientMetadata.displayable($0) }
  }

  private static func scope(_ members: [String: JSONValue]) throws(DocumentFailure) -> Scope? {
    guard let text = try text(members, "scope"), !text.isEmpty else { return nil }
    guard let scope = Scope(parsing: text) else { throw .invalid("its `scope` is malformed") }
    return scope
  }

  /// Returns the kind of application. Few documents contain it. Only a native app has a redirect URI that does not begin
  /// with https.
  private static func applicationType(
    _ members: [String: JSONValue], _ uris: [RedirectURI]
  ) throws(DocumentFailure) -> ClientMetadata.ApplicationType {
    if let text = try text(members, "application_type") {
      guard let type = ClientMetadata.ApplicationType(rawValue: text) else {
        throw .invalid("its `application_type` is unknown")
      }
      return type
    }
    let areAllWeb = uris.allSatisfy { uri in
      if case .https = uri.kind { return true } else { return false }
    }
    return areAllWeb ? .web : .native
  }

  // MARK: Members

  /// Returns the text of a member; `nil` if it is absent.
  private static func text(_ members: [String: JSONValue], _ name: String) throws(DocumentFailure) -> String? {
    guard let value = members[name] else { return nil }
    guard case .string(let text) = value else { throw .invalid("its `\(name)` is not a string") }
    return text
  }

  /// Returns the texts of a member that is an array; `nil` if it is absent.
  private static func list(_ members: [String: JSONValue], _ name: String) throws(DocumentFailure) -> [String]? {
    guard let value = members[name] else { return nil }
    guard case .array(let items) = value else { throw .invalid("its `\(name)` is not an array") }
    var texts: [String] = []
    for item in items {
      guard case .string(let text) = item else { throw .invalid("its `\(name)` has an item that is not a string") }
      texts.append(text)
    }
    return texts
  }
}
