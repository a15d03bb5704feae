public import OAuth

/// The identity of a client at the upstream (`clients[].upstream:`).
public struct UpstreamClient: Sendable {
  public enum Authentication: String, Sendable, CaseIterable {
    case basic
    case post
    case none
  }

  public enum RedirectURI: Sendable, Equatable {
    /// The gateway's callback: the default where the gateway holds credentials.
    case callback
    /// The one that the client asked for.
    case requested
    case fixed(String)
  }

  public var clientID: ClientID
  public var clientSecret: Secret?
  public var redirectURI: RedirectURI
  public var authentication: Authentication
  /// Rules that take the place of the server's; `nil` where the client has none of its own.
  public var scopes: ScopeRules?

  public init(
    clientID: ClientID, clientSecret: Secret? = nil, authentication: Authentication, redirectURI: RedirectURI,
    scopes: ScopeRules? = nil
  ) {
    self.clientID = clientID
    self.clientSecret = clientSecret
    self.authentication = authentication
    self.redirectURI = redirectURI
    self.scopes = scopes
  }

  /// The client of a mapping that sets nothing, until the client's own id is known.
  public init() {
    self.init(clientID: ClientID(""), authentication: .none, redirectURI: .requested)
  }

  public static let table = SettingTable<UpstreamClient>(
    "client_upstream", "The identity of a client at the upstream.",
    [
      .other(
        "client_id", .text("up to 256 ASCII characters", pattern: "^[ -~]+$", longest: 256), "Its id there",
        default: "the same id"),
      .other("client_secret", .section("secret"), "The secret that the gateway holds for it", default: "none"),
      .choice(
        "authentication", \.authentication, "How the gateway sends the `client_secret` that it holds",
        default: "`basic` with a secret, else `none`"),
      .other(
        "redirect_uri", .text("`callback`, `requested`, a URI"),
        "The redirect URI that the upstream gets: the gateway's callback, the one of the request, or a complete URI",
        default: "`callback` with a secret, else `requested`"),
      .other(
        "scopes", .section("scopes"), "Lists that take the place of those of `upstream.scopes`",
        default: "the server's"),
    ]
  ) { UpstreamClient() }
}
