import Policy

/// The endpoint paths of a known server, relative to the folder of the server.
struct EndpointFamily: Sendable {
  let authorization: String
  let token: String
  var revocation: String?
  var introspection: String?

  /// The families in the order in which they are tried: those of the presets first, then those of `policies/servers`.
  static let all: [EndpointFamily] = {
    let presets = ServerPreset.all.compactMap { preset -> EndpointFamily? in
      let paths = preset.settings.endpoints
      guard let authorization = paths.authorization.first, let token = paths.token.first else { return nil }
      return EndpointFamily(
        authorization: authorization, token: token, revocation: paths.revocation.first,
        introspection: paths.introspection.first)
    }
    var families: [EndpointFamily] = []
    for family in presets + others {
      let known = families.firstIndex { $0.token == family.token && $0.authorization == family.authorization }
      guard let known else {
        families.append(family)
        continue
      }
      families[known].revocation = families[known].revocation ?? family.revocation
      families[known].introspection = families[known].introspection ?? family.introspection
    }
    return families
  }()

  private static let others = [
    EndpointFamily(
      authorization: "/oauth/authorize", token: "/oauth/token", revocation: "/oauth/revoke",
      introspection: "/oauth/introspect"),
    EndpointFamily(authorization: "/authorize", token: "/token", revocation: "/revoke", introspection: "/introspect"),
    EndpointFamily(
      authorization: "/oauth2/authorize", token: "/oauth2/token", revocation: "/oauth2/revoke",
      introspection: "/oauth2/introspect"),
    EndpointFamily(
      authorization: "/connect/authorize", token: "/connect/token", revocation: "/connect/revocation",
      introspection: "/connect/introspect"),
    EndpointFamily(authorization: "/adfs/oauth2/authorize", token: "/adfs/oauth2/token"),
    EndpointFamily(
      authorization: "/protocol/openid-connect/auth", token: "/protocol/openid-connect/token",
      introspection: "/protocol/openid-connect/token/introspect"),
    EndpointFamily(
      authorization: "/api/oidc/auth", token: "/api/oidc/token", revocation: "/api/oidc/revoke",
      introspection: "/api/oidc/introspect"),
    EndpointFamily(authorization: "/authentication", token: "/token"),
    EndpointFamily(authorization: "/oauth/auth", token: "/oauth/access_token"),
    EndpointFamily(authorization: "/as/authorization.oauth2", token: "/as/token.oauth2"),
  ]
}
