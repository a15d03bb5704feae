/// The legacy authorization server (`upstream:` in the policy file).
public struct UpstreamSettings: Sendable {
  public var origin: Origin
  public var endpoints: EndpointPaths
  public var callback: CallbackMode
  /// Prefixes that are proxied; empty: everything.
  public var pass: [String] = []
  /// Paths that only look like an endpoint, such as `/oauth/token_key`; `*` is one segment of any value.
  public var notEndpoints: [String] = []
  /// Bytes of `state` that the server accepts; a longer sealed state is kept in the store behind a handle.
  public var stateLimit = 2_048
  /// Seconds that the server takes a code: its digest is remembered for so long.
  public var codeLifetime = 600
  /// True if the sign-in ends with a form of another site: the gateway's cookie then has `SameSite=None`.
  public var crossSiteLogin = false
  /// `nil` unless the operator accepts raw codes at the callback without PKCE at the server.
  public var callbackRisk: CallbackRisk?
  /// True if the server understands PKCE: the gateway then sends a challenge of its own for every transaction. The
  /// client's challenge is never forwarded.
  public var usesPKCE: Bool
  /// The difference between the scopes of apps and of the server; `nil` for none.
  public var scopes: ScopeRules?
  /// Authorization request parameters forwarded in addition to OAuth's and OpenID Connect Core's.
  public var parameters: Set<String>
  /// Process-wide.
  public var maxConnections = 1_024
  /// Of these, so many are kept for the OAuth endpoints; `nil`: an eighth.
  public var reserve: Int?
  /// Milliseconds.
  public var connectTimeout = 5_000
  /// Milliseconds from the last request byte to the response head.
  public var responseTimeout = 60_000
  /// Protocols that an `Upgrade` may name, lower case, e.g. `websocket`; empty: no upgrades.
  public var upgrades: Set<String> = []
  /// Globs of names of request fields that only a trusted proxy may send, besides the built-in ones.
  public var strippedHeaders: [String] = []
  /// Globs of names of request fields that every client may send, although a built-in glob matches.
  public var keptHeaders: [String] = []
  /// `nil` exactly for an http origin.
  public var tls: UpstreamTLS?

  public init(
    origin: Origin, endpoints: EndpointPaths, callback: CallbackMode = .inPlace, usesPKCE: Bool = false,
    scopes: ScopeRules? = nil, parameters: Set<String> = []
  ) {
    self.origin = origin
    self.endpoints = endpoints
    self.callback = callback
    self.usesPKCE = usesPKCE
    self.scopes = scopes
    self.parameters = parameters
  }

  /// Connections that are kept for the OAuth endpoints.
  public var reservedConnections: Int {
    get { reserve ?? maxConnections / 8 }
    set { reserve = newValue }
  }

  public static let table = SettingTable<UpstreamSettings>(
    "upstream", "The legacy authorization server.",
    [
      .other(
        "url", .text("https or http URL without a path", pattern: "^https?://[^/?#@]+/?$"),
        "Scheme, host and port of the server", required: "its URL"),
      .other(
        "endpoints", .section("endpoints"), "Its OAuth endpoints",
        required: "a mapping with `authorization` and `token`"),
      .choice(
        "callback", \.callback,
        """
        The place where its answers are completed: in the passing response, on whatever path of the server it comes, \
        or over the network at `/.proofgate/callback`, which shows raw codes to the browser
        """
      ),
      .choice(
        "callback_risk", \.callbackRisk,
        "Accepts `callback: network` with a server that does not understand PKCE", default: "not accepted"),
      .paths(
        "pass", \.pass, "Prefixes that are proxied, everything else answers 404; `/` is everything",
        default: "everything is proxied"),
      .paths(
        "not_endpoints", \.notEndpoints,
        "Exact paths that only look like an endpoint, such as `/oauth/token_key`; `*` is one segment of any value",
        default: "none"),
      .number(
        "state_limit", \.stateLimit, .size(14...65_536),
        """
        Bytes of `state` that the server accepts; a longer sealed state is kept in the store behind a handle, if it \
        has at most 512 bytes
        """
      ),
      .number(
        "code_lifetime", \.codeLifetime, .seconds(1...86_400),
        "The time for which the server takes a code; for so long a code belongs to the sign-in that brought it first"),
      .flag(
        "cross_site_login", \.crossSiteLogin,
        """
        `true`: the sign-in ends with a form of another site (SAML, WS-Federation); the gateway's cookie then has \
        `SameSite=None`, and its own forms must come from its own origin
        """
      ),
      .choice(
        "pkce", \.usesPKCE, false: "strip", true: "forward",
        """
        PKCE at the server. `forward`: it understands PKCE, and each sign-in has a challenge of the gateway's own \
        there; `strip`: it gets no PKCE parameter
        """
      ),
      .other(
        "scopes", .section("scopes"), "The difference between the scopes of apps and of the server",
        default: "none"),
      .other(
        "parameters", .list(.text("names"), orSingle: true),
        "Authorization request parameters that are forwarded in addition to those of OAuth and OpenID Connect Core",
        default: "none"),
      .number(
        "max_connections", \.maxConnections, .number(1...1_000_000),
        "Connections to the server, for the whole process"),
      .number(
        "reserved_connections", \.reserve, .number(0...999_999),
        """
        Of `max_connections`, so many are kept for the OAuth endpoints, so that a flood of other requests cannot keep \
        users from signing in
        """,
        default: "an eighth of them"),
      .number(
        "connect_timeout", \.connectTimeout, .duration(10...600_000),
        "The longest time to open a connection, the look-up of its name included"),
      .number(
        "response_timeout", \.responseTimeout, .duration(10...86_400_000),
        "The longest time from the last request byte to the response head"),
      .other(
        "upgrades", .list(.text("protocol names", pattern: "^[a-z0-9./-]+$"), orSingle: true),
        "Protocols that an `Upgrade` may name, such as `websocket`", default: "none"),
      .other(
        "strip_headers", .list(.text("names; `*` matches any characters", pattern: headerPattern), orSingle: true),
        "Request fields that only `trusted_proxies` may send, besides those that the gateway drops by itself",
        default: "none"),
      .other(
        "keep_headers", .list(.text("names; `*` matches any characters", pattern: headerPattern), orSingle: true),
        "Request fields that every client may send although the gateway would drop them", default: "none"),
      .other(
        "tls", .section("upstream_tls"), "TLS towards an https `url`",
        default: "verified with the machine's authorities"),
    ]
  ) { UpstreamSettings() }

  private static let headerPattern = "^[A-Za-z0-9!#$%&'*+.^_`|~-]{2,}$"

  /// The settings of a server that sets nothing, until its URL is known.
  public init() {
    self.init(origin: Origin(scheme: .https, host: ""), endpoints: EndpointPaths(authorization: [], token: []))
  }
}

/// Paths of the server's OAuth endpoints, each as written in its documentation, beginning with a slash.
public struct EndpointPaths: Sendable {
  public var authorization: [String]
  public var token: [String]
  public var revocation: [String]
  public var introspection: [String]
  /// Where the gateway itself takes pushed authorization requests (RFC 9126); nothing there ever goes to the server.
  public var pushedAuthorization: [String]
  /// Endpoints that the gateway does not police and therefore answers with 404: device authorization and dynamic
  /// registration of the upstream's own, and pushed authorization requests where no client may push.
  public var closed: [String]

  public init(
    authorization: [String], token: [String], revocation: [String] = [], introspection: [String] = [],
    pushedAuthorization: [String] = [], closed: [String] = []
  ) {
    self.authorization = authorization
    self.token = token
    self.revocation = revocation
    self.introspection = introspection
    self.pushedAuthorization = pushedAuthorization
    self.closed = closed
  }

  public static let table = SettingTable<EndpointPaths>(
    "endpoints", "Paths of the server's OAuth endpoints, exactly as the server has them.",
    [
      .paths(
        "authorization", \.authorization,
        "Authorization requests are checked, sealed and forwarded (RFC 6749, section 3.1)",
        required: "its path, such as `/authorize`"),
      .paths(
        "token", \.token, "Token requests are verified first (RFC 6749, section 3.2)",
        required: "its path, such as `/token`"),
      .paths(
        "revocation", \.revocation, "Sealed refresh tokens are translated (RFC 7009)", default: "none"),
      .paths(
        "introspection", \.introspection,
        """
        Requests are forwarded with the caller's own credentials (RFC 7662); failed attempts are limited as at the \
        token endpoint
        """,
        default: "none"),
      .paths(
        "pushed_authorization", \.pushedAuthorization,
        """
        Clients push authorization requests to the gateway, if any may; otherwise closed with 404. The server's own is \
        never reached: its requests would go around the gateway (RFC 9126)
        """,
        default: "none"),
      .other(
        "device_authorization", .paths, "The server's own device authorization: closed with 404 (RFC 8628)",
        default: "none"),
      .other(
        "registration", .paths, "The server's own dynamic registration: closed with 404 (RFC 7591)", default: "none"),
    ]
  ) { EndpointPaths(authorization: [], token: []) }
}

/// Where the upstream's answer is completed (`I-completion`).
public enum CallbackMode: String, Sendable, CaseIterable {
  /// In the passing response: browsers never see a raw code.
  case inPlace = "in_place"
  /// At the callback, for upstreams that answer by script or form_post or from another origin.
  case network
}

/// The acceptance of `callback: network` with a server that does not understand PKCE: a program that sees a raw code first
/// can redeem it in a sign-in of its own.
public enum CallbackRisk: String, Sendable, CaseIterable {
  case accepted
}
