import JSON

/// The metadata document of the upstream (RFC 8414, section 3.2; OpenID Connect Discovery, section 4.2), as the gateway
/// received it. No member of it reaches a client unchecked (`ExposedMetadata`).
package struct UpstreamMetadata: Sendable {
  /// The maximum length of a document in bytes. The longest known documents have about 16 KiB.
  static let maximumLength = 128 * 1024
  /// The maximum number of members. IANA registers about 100.
  private static let maximumMembers = 512

  package let members: [String: JSONValue]

  /// Reads a document; `nil` if it is too long, is not a JSON object, or has no `issuer` and no endpoint.
  package init?(parsing bytes: [UInt8]) {
    guard bytes.count <= UpstreamMetadata.maximumLength, let members = JSONValue.members(of: bytes),
      members.count <= UpstreamMetadata.maximumMembers,
      ["issuer", "authorization_endpoint", "token_endpoint"].contains(where: { members[$0]?.text != nil })
    else { return nil }
    self.members = members
  }

  /// The issuer; `nil` if the document has none.
  package var issuer: String? { members["issuer"]?.text }

  /// True if the upstream issues ID tokens, whose `iss` is its issuer.
  var describesIDTokens: Bool { members["id_token_signing_alg_values_supported"] != nil }

  /// The URLs of the endpoints that the gateway may intercept, by the names of their members.
  var endpoints: [String: MetadataURL] {
    ["authorization_endpoint", "token_endpoint", "revocation_endpoint", "introspection_endpoint"].reduce(into: [:]) {
      $0[$1] = members[$1]?.text.flatMap { MetadataURL(parsing: $0) }
    }
  }
}
