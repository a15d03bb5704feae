public import OAuth

/// The identity of a client at the upstream (`clients[].upstream:`).
public struct UpstreamClient: Sendable {
  /// The form in which the gateway sends the client secret that it holds (RFC 6749, section 2.3.1).
  public enum Authentication: String, Sendable, CaseIterable {
    /// The secret is in the `Authorization` field, with the Basic scheme.
    case basic
    /// As `basic`, but id and secret are not form-encoded: for servers that do not decode them (RFC 7617).
    case basicRaw = "basic_raw"
    /// The secret is in the body, as `client_secret`, together with `client_id`.
    case post
    /// The gateway sends no secret.
    case none
  }

  /// The forms that a server may have for all clients (`upstream.authentication`).
  public enum SecretForm: String, Sendable, CaseIterable {
    /// As ``Authentication/basic``.
    case basic
    /// As ``Authentication/basicRaw``.
    case basicRaw = "basic_raw"
    /// As ``Authentication/post``.
    case post

    /// The form of a client that has none of its own.
    public var authentication: Authentication {
      switch self {
      case .basic: .basic
      case .basicRaw: .basicRaw
      case .post: .post
      }
    }
  }

  /// The redirect URI that the gateway sends to the upstream.
  public enum RedirectURI: Sendable, Equatable {
    /// The gateway's callback. This is the default if the gateway holds the client's upstream secret.
    case callback
    /// The redirect URI of the client's request. This is the default for other clients.
    case requested
    /// This URI, in every request.
    case fixed(String)
  }

  /// The id of the client at the upstream. Default: its id in the policy.
  public var clientID: ClientID
  /// The upstream secret that the gateway holds for the client; `nil` if it holds none.
  public var clientSecret: Secret?
  /// The redirect URI in the gateway's requests to the upstream.
  public var redirectURI: RedirectURI
  /// The form in which the gateway sends `clientSecret`.
  public var authentication: Authentication
  /// The scope rules of the client; `nil` if it has none. Each list of these rules replaces the list of the same name
  /// in `upstream.scopes`.
  public var scopes: ScopeRules?

  /// Creates an identity, by default without an upstream secret, and with the scope rules of `upstream:`.
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

  /// Creates the defaults. The id is a placeholder until the reader of the policy sets it.
  public init() {
    self.init(clientID: ClientID(""), authentication: .none, redirectURI: .requested)
  }

  /// The settings of `upstream:` in an entry of `clients:`.
  public static let table = SettingTable<UpstreamClient>(
    "client_upstream", "The identity of a client at the upstream.",
    [
      .customReader(
        "client_id", .text("up to 256 ASCII characters", pattern: "^[ -~]+$", maximumLength: 256),
        "Its id at the upstream",
        default: "the same id"),
      .customReader("client_secret", .section("secret"), "The secret that the gateway holds for it", default: "none"),
      .choice(
        "authentication", \.authentication,
        "The form in which the gateway sends the `client_secret`, as in `upstream`; `none`: it sends no secret",
        default: "with a secret that of `upstream.authentication`, else `none`"),
      .customReader(
        "redirect_uri", .text("`callback`, `requested`, a URI"),
        "The redirect URI that the upstream gets: the gateway's callback, the one of the request, or a complete URI",
        default: "`callback` with a secret, else `requested`"),
      .customReader(
        "scopes", .section("scopes"), "Lists that replace those of `upstream.scopes`",
        default: "the server's"),
    ]
  ) { UpstreamClient() }
}
