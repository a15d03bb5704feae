/// Settings of `upstream:` for one server (`upstream.kind`). A preset exists only for a server that `make interop`
/// runs; `docs/servers.md` describes others.
public struct ServerPreset: Sendable {
  /// The value of `upstream.kind`.
  public let kind: String
  /// The name and the version of the server that was run.
  public let server: String
  /// The settings that the preset changes have its values, and all others their defaults. The URL is a placeholder.
  public let settings: UpstreamSettings
  /// The form of the server's refusals of authorization requests, and their effect on the sign-in.
  public let errors: String

  private init(_ kind: String, server: String, errors: String, _ settings: UpstreamSettings) {
    self.kind = kind
    self.server = server
    self.settings = settings
    self.errors = errors
  }

  /// All presets, in the order of the manual. Each row of settings is plain (`Setting.isPlain`).
  public static let all = [
    ServerPreset(
      "authlib", server: "Authlib 0.15.6, without its extension `CodeChallenge`",
      errors: "a page of the server, with status 400; the app gets no response, and the sign-in expires",
      settings(authorization: "/oauth/authorize", token: "/oauth/token", secretInBody: false)),
    ServerPreset(
      "flask-oauthlib", server: "Flask-OAuthlib 0.9.6 with oauthlib 2.1",
      errors: """
        a redirect with `error`, which the app gets; for an unknown client or redirect URI one to the server's page \
        `/oauth/errors`, and the sign-in expires
        """,
      settings(authorization: "/oauth/authorize", token: "/oauth/token", secretInBody: true)),
    ServerPreset(
      "django-oauth-toolkit", server: "django-oauth-toolkit 1.2 with oauthlib 2.1, below `/o/`",
      errors:
        "a redirect with `error`, which the app gets; a page with status 400 for an unknown client or redirect URI",
      settings(
        authorization: "/o/authorize/", token: "/o/token/", revocation: "/o/revoke_token/",
        introspection: "/o/introspect/", secretInBody: false)),
  ]

  /// Returns the preset of this kind; `nil` if there is none.
  public static func named(_ kind: String) -> ServerPreset? { all.first { $0.kind == kind } }

  private static func settings(
    authorization: String, token: String, revocation: String? = nil, introspection: String? = nil, secretInBody: Bool
  ) -> UpstreamSettings {
    var settings = UpstreamSettings()
    settings.endpoints = EndpointPaths(
      authorization: [authorization], token: [token], revocation: revocation.map { [$0] } ?? [],
      introspection: introspection.map { [$0] } ?? [])
    settings.authentication = secretInBody ? .post : .basic
    return settings
  }
}
