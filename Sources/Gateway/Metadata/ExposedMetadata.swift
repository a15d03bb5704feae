import JSON
import Policy

/// The members of the upstream's metadata document that the gateway's document may contain.
///
/// Only the members in `kinds` are taken. Every other member is dropped, because it could offer something that the
/// gateway does not enforce (an endpoint, request objects, DPoP), or override the rest (`signed_metadata`). A URL of the
/// upstream is rewritten to the gateway's origin if the gateway forwards requests for its path. A URL of another host
/// is kept only if the host is public.
struct ExposedMetadata {
  /// The form that the value of a member must have.
  private enum Kind {
    case url
    case list
    case flag
  }

  private static let kinds: [String: Kind] = [
    // RFC 8414, section 2.
    "jwks_uri": .url, "scopes_supported": .list, "service_documentation": .url, "ui_locales_supported": .list,
    "op_policy_uri": .url, "op_tos_uri": .url,
    // OpenID Connect Discovery, section 3.
    "userinfo_endpoint": .url, "acr_values_supported": .list, "subject_types_supported": .list,
    "id_token_signing_alg_values_supported": .list, "id_token_encryption_alg_values_supported": .list,
    "id_token_encryption_enc_values_supported": .list, "userinfo_signing_alg_values_supported": .list,
    "userinfo_encryption_alg_values_supported": .list, "userinfo_encryption_enc_values_supported": .list,
    "display_values_supported": .list, "claim_types_supported": .list, "claims_supported": .list,
    "claims_locales_supported": .list, "claims_parameter_supported": .flag,
    // OpenID Connect RP-Initiated Logout, Session Management, Front-Channel Logout and Back-Channel Logout; Initiating
    // User Registration via OpenID Connect.
    "end_session_endpoint": .url, "check_session_iframe": .url, "frontchannel_logout_supported": .flag,
    "frontchannel_logout_session_supported": .flag, "backchannel_logout_supported": .flag,
    "backchannel_logout_session_supported": .flag, "prompt_values_supported": .list,
  ]

  /// The members, checked and rewritten.
  let members: [String: JSONValue]
  /// The paths of the endpoints in the upstream's document, by the names of their members.
  let endpointPaths: [String: String]

  /// - Parameters:
  ///   - endpoints: The paths of the upstream's endpoints in the policy.
  ///   - isForwarded: Returns true if the gateway forwards requests for a target, without changing or refusing them.
  init(
    _ document: UpstreamMetadata, gateway: Origin, upstream: Origin, endpoints: EndpointPaths,
    isForwarded: (String) -> Bool
  ) {
    let named = document.endpoints
    endpointPaths = named.mapValues(\.path)
    // The origin by which the upstream knows itself. It may differ from the one at which the gateway reaches it.
    var upstreamOrigins: Set<Origin> = [upstream]
    if let url = named["authorization_endpoint"], endpoints.authorization.contains(url.path) {
      upstreamOrigins.insert(url.origin)
    }
    if let url = named["token_endpoint"], endpoints.token.contains(url.path) { upstreamOrigins.insert(url.origin) }
    let hidden = HiddenHosts(hosts: Set(upstreamOrigins.map(\.host)).subtracting([gateway.host]))

    func exposed(_ text: String) -> String? {
      guard let url = MetadataURL(parsing: text), !hidden.areNamed(in: url.target) else { return nil }
      if url.origin == gateway || upstreamOrigins.contains(url.origin) {
        return isForwarded(url.target) ? gateway.description + url.target : nil
      }
      return url.isPublic && !hidden.contains(url.origin.host) ? text : nil
    }
    var members: [String: JSONValue] = [:]
    for (name, kind) in ExposedMetadata.kinds {
      guard let value = document.members[name] else { continue }
      switch (kind, value) {
      case (.url, .string(let text)): members[name] = exposed(text).map(JSONValue.string)
      case (.flag, .bool): members[name] = value
      case (.list, .array(let values)):
        let texts = values.filter { $0.text.map { !$0.isEmpty && !hidden.areNamed(in: $0) } ?? false }
        if !texts.isEmpty { members[name] = .array(texts) }
      default: continue
      }
    }
    self.members = members
  }
}
