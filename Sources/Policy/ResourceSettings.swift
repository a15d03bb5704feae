public import OAuth
public import Time

/// The settings of one protected resource (an item of `resources:`; RFC 8707, section 2; RFC 9728).
public struct ResourceSettings: Sendable {
  /// The longest lifetime of the record of an access token. A token that lives longer is inactive after this time.
  public static let maximumTokenLifetime: Seconds = 2_592_000
  /// The default of ``accessTokenLifetime``.
  public static let defaultTokenLifetime: Seconds = 600

  /// The identifier, which clients send as `resource`.
  public var uri: ResourceURI
  /// Other identifiers that mean the same resource, such as the one with a slash at its end.
  public var aliases: [ResourceURI]
  /// The name on the consent page and in the metadata; `nil` if it has none.
  public var name: String?
  /// The scope tokens that the metadata lists.
  public var scopes: [String]
  /// The changes to the requests for the upstream.
  public var upstream: ResourceUpstream
  /// The lifetime of an access token if the upstream does not say it.
  public var accessTokenLifetime: Seconds
  /// The resource server that may introspect tokens; `nil` if none may.
  public var introspection: ResourceServer?
  /// The address at which a proxy in front of the resource checks tokens; `nil` if there is none.
  public var check: SocketAddress?
  /// The scope tokens that a token must have at `check`.
  public var checkScopes: [String]

  /// Creates a resource without changes to the requests for the upstream.
  public init(uri: ResourceURI, aliases: [ResourceURI] = [], name: String? = nil) {
    self.uri = uri
    self.aliases = aliases
    self.name = name
    scopes = []
    upstream = ResourceUpstream()
    accessTokenLifetime = ResourceSettings.defaultTokenLifetime
    introspection = nil
    check = nil
    checkScopes = []
  }

  /// The settings of an item of `resources:`.
  public static let table = SettingTable<ResourceSettings>(
    "resource", "A protected resource, for which apps request tokens with `resource` (RFC 8707).",
    [
      .customReader(
        "uri", .text("absolute URI", pattern: uriPattern, maximumLength: ResourceURI.maximumLength),
        "Its identifier, compared byte for byte; up to 256 characters",
        adviceIfMissing: "its identifier, such as `https://api.example.com/`"),
      .customReader(
        "aliases", .list(.text("absolute URIs", pattern: uriPattern), allowsSingleValue: true),
        "Other identifiers for the same resource, such as the one without the slash at its end", default: "none"),
      .text("name", \.name, "Its name on the consent page and in its metadata", default: "none"),
      .customReader(
        "scopes", scopeTokens, "The scope tokens that its metadata lists (RFC 9728, section 2)", default: "none"),
      .customReader(
        "upstream", .section("resource_upstream"), "The values that the server gets for the resource",
        default: "nothing"),
      .seconds(
        "access_token_lifetime", \.accessTokenLifetime, 1...86_400,
        """
        The lifetime of an access token if the server sends no `expires_in`, or one that is not positive, by which some \
        servers mean that the token does not expire; never shorter than the server's
        """),
      .customReader(
        "introspection", .section("resource_server"),
        "The resource server that may ask at `/.proofgate/introspect` for its tokens (RFC 7662)", default: "none"),
      .customReader(
        "check", .text("address"),
        """
        The address of a listener that checks the bearer token of each request for this resource, for `auth_request` \
        of nginx or `ext_authz` of Envoy
        """,
        default: "none"),
      .customReader("check_scopes", scopeTokens, "The scope tokens that a token must have at `check`", default: "none"),
    ]
  ) { ResourceSettings() }

  private static let uriPattern = #"^[A-Za-z][A-Za-z0-9+.-]*:[!$-;=?-\[\]_a-z~]+$"#
  private static let scopeTokens = SettingForm.list(
    .text("scope tokens", pattern: #"^[!#-\[\]-~]+$"#), allowsSingleValue: true)

  /// Creates the defaults. The identifier is a placeholder until the reader of the policy sets it.
  public init() {
    guard let placeholder = ResourceURI(parsing: "urn:none") else { preconditionFailure("a URI") }
    self.init(uri: placeholder)
  }
}

extension Policy {
  /// The shortest time for which the gateway remembers the end of a login: the longest time for which an access token of
  /// the login can then still be active, or can have a record without a stated lifetime. It is the same without resources,
  /// because a later policy may list them again.
  public var endRetention: Seconds { max(ResourceSettings.maximumTokenLifetime, upstream.accessTokenValidity) }
}

/// The values that the upstream gets in a request for a resource (`resources[].upstream:`).
public struct ResourceUpstream: Sendable {
  /// The value of `audience`; `nil` if the parameter is not sent.
  public var audience: String?
  /// The value of `resource`; `nil` if the parameter is not sent.
  public var resource: String?
  /// The scope tokens that are added to the scope of the request; `nil` for none.
  public var scope: Scope?
  /// The upstream client in place of the client's own; `nil` for the client's own.
  public var client: UpstreamClient?

  /// Creates the default: the upstream gets nothing.
  public init() {}

  /// The settings of `upstream:` in an item of `resources:`.
  public static let table = SettingTable<ResourceUpstream>(
    "resource_upstream", "The values that the server gets in requests for a resource.",
    [
      .text("audience", \.audience, "The value of `audience`", default: "not sent"),
      .text("resource", \.resource, "The value of `resource`, for a server that knows RFC 8707", default: "not sent"),
      .customReader(
        "scopes", .list(.text("scope tokens", pattern: #"^[!#-\[\]-~]+$"#), allowsSingleValue: true),
        "Scope tokens that are added to the scope of the request", default: "none"),
      .customReader(
        "client", .section("client_upstream"),
        "The upstream client for all requests for the resource; it needs a `client_id`", default: "the client's own"),
    ]
  ) { ResourceUpstream() }
}

/// The server of a resource, which authenticates at the gateway's introspection endpoint (`introspection:`).
public struct ResourceServer: Sendable {
  /// The user name in HTTP Basic, or `client_id` in the body.
  public var id: String
  /// The secret.
  public var secret: Secret
  /// The identity of the resource server at the upstream's introspection endpoint; `nil` if the upstream is not asked.
  public var upstream: UpstreamClient?

  /// Creates a resource server whose tokens the upstream is not asked about.
  public init(id: String, secret: Secret, upstream: UpstreamClient? = nil) {
    self.id = id
    self.secret = secret
    self.upstream = upstream
  }
}
