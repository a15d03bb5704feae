import OAuth
public import Time

/// The legacy authorization server (`upstream:` in the policy file).
public struct UpstreamSettings: Sendable {
  /// The scheme, host and port of the server. For a Unix socket, `http://localhost`, or `https://` and the name in the
  /// server's certificate.
  public var origin: Origin
  /// The Unix-domain socket on which the server listens: an absolute path, or `@` and a name in the abstract namespace;
  /// `nil` if the server has an IP address.
  public var unixSocket: String?
  /// The value of `Host` in requests; `nil` if the policy does not set it. Use `effectiveHost` instead.
  public var host: UpstreamHost?
  /// The other servers of `urls`, in their order. They have the scheme of `origin`, and the gateway sends them the same
  /// `Host`.
  public var otherServers: [UpstreamServer] = []
  /// The rule by which the gateway chooses one of several addresses; `nil` (default) for the first that accepts
  /// connections. Not `nil` if there are several servers.
  public var affinity: AddressAffinity?
  /// The paths of its OAuth endpoints.
  public var endpoints: EndpointPaths
  /// The place where the gateway replaces the code of an authorization response with a sealed code. Default: in the
  /// server's response, before the gateway forwards it.
  public var callback: CallbackMode
  /// The prefixes of the paths that the gateway forwards; none if empty. Default: all paths.
  public var passPrefixes = UpstreamSettings.everyPath
  /// The value of `passPrefixes` that forwards all paths.
  public static let everyPath = ["/"]
  /// The paths that resemble an endpoint path but are not endpoints, such as `/oauth/token_key`. `*` matches one
  /// segment that consists of letters, digits and a few other characters (`NotEndpointPattern`).
  public var notEndpoints: [String] = []
  /// The prefixes of the paths, besides the authorization endpoints, whose answers may complete a sign-in. The gateway
  /// claims and refuses a code in the answer of any other path (`I-completion`). Without effect if `callback` is
  /// ``CallbackMode/atCallback``: then the browser itself brings the code. Default: none.
  public var completionPaths: [String] = []
  /// The maximum length of a `state` that the server accepts, in bytes. If a sealed state is longer, the gateway stores
  /// the content of the state and sends a short random key of the stored entry (a handle) instead. The gateway refuses
  /// the request if the entry would exceed 4,096 bytes. Default: 4 KiB, enough for the longest `state` of an app (2 KiB).
  public var stateLimit = UpstreamSettings.defaultStateLimit
  /// The default of `stateLimit`.
  public static let defaultStateLimit = 4_096
  /// The time for which the server accepts a code. For this time, the store records the sign-in to which the code
  /// belongs. Default: 10 minutes.
  public var codeLifetime: Seconds = 600
  /// The longest time for which the server accepts an access token that it issued without `expires_in`. For this time, the
  /// store records the resource of the token. Default: a day.
  public var accessTokenValidity: Seconds = 86_400
  /// The longest time for which the record of an access token is kept: a year. Also if the server states a longer time.
  public static let maximumTokenValidity: Seconds = 31_536_000
  /// True if a sign-in ends with a form that another site posts, so that the gateway's cookie needs `SameSite=None`.
  /// Default: false.
  public var crossSiteLogin = false
  /// True if a form that another site posts must carry the cookie of the gateway, so that the cookie needs
  /// `SameSite=None`.
  public var needsCrossSiteCookie: Bool { callback == .atCallback || crossSiteLogin }
  /// The operator's acceptance of the risk that ``CallbackRisk`` describes; `nil` (default) if the operator does not
  /// accept the risk.
  public var callbackRisk: CallbackRisk?
  /// True if the server understands PKCE. The gateway then sends a code challenge of its own for every sign-in. The
  /// gateway never forwards the client's challenge. Default: false.
  public var usesPKCE: Bool
  /// The form in which the gateway sends the `client_secret` of clients. A client may set another form. Default: HTTP
  /// Basic.
  public var authentication = UpstreamClient.SecretForm.basic
  /// The rules by which the gateway changes scopes for the server; `nil` for none.
  public var scopes: ScopeRules?
  /// The names of parameters of authorization and token requests that the gateway forwards in addition to those of
  /// OAuth and OpenID Connect Core.
  public var parameters: Set<String>
  /// The names of parameters of authorization responses that the client gets in addition to those of the gateway, in
  /// the order in which it gets them (`ResponseParameters`). Default: none.
  public var responseParameters: [String] = []
  /// The OAuth error that the server means by a word, a number or a status of its own in an answer of its token endpoint
  /// (`UpstreamErrors`). Default: none.
  public var errors = UpstreamErrors()
  /// The maximum number of connections of the process to the server. Default: 1,024.
  public var maxConnections = 1_024
  /// The `reserved_connections` of the policy; `nil` if the policy does not set it. Use `reservedConnections` instead.
  public var configuredReservedConnections: Int?
  /// The maximum age of a connection. After its current request, an older connection is closed. Default: 1 hour.
  public var connectionAge: Milliseconds = 3_600_000
  /// The maximum number of requests on a connection. Default: 1,000.
  public var connectionRequests = 1_000
  /// The statuses of responses that count as failures of the address.
  public var failureStatuses = [502, 503, 504]
  /// The number of failures in succession that take an address out of service, unless it is the last. Default: 5.
  public var failureCount = 5
  /// The active check of the addresses; `nil` (default) for none.
  public var healthCheck: HealthCheckSettings?
  /// The maximum time for opening a connection, including the DNS lookup. Default: 5 s.
  public var connectTimeout: Milliseconds = 5_000
  /// The maximum time from the last byte of a request to the response head. Default: 60 s.
  public var responseTimeout: Milliseconds = 60_000
  /// The time without traffic after which the kernel sends TCP probes to the server; `nil` for none.
  public var tcpKeepalive: Milliseconds?
  /// The time for which bytes to the server may stay without acknowledgement (`TCP_USER_TIMEOUT`); `nil` for the
  /// system's.
  public var tcpUserTimeout: Milliseconds?
  /// The protocols that an `Upgrade` field may contain, in lower case, such as `websocket`; empty (default) for none.
  public var upgrades: Set<String> = []
  /// True if early hints (103) of the upstream go to clients.
  public var earlyHints = false
  /// True if trailers of requests go to the server. Default: false.
  public var forwardsTrailers = false
  /// Patterns for the names of request fields that only a trusted proxy may send, in addition to the built-in patterns.
  public var strippedHeaders: [String] = []
  /// Patterns for the names of request fields that every client may send, although they match a built-in pattern.
  public var keptHeaders: [String] = []
  /// The TLS settings of an https origin; `nil` for http.
  public var tls: UpstreamTLS?

  /// Creates settings. Properties that are not arguments have their defaults.
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

  /// The maximum number of servers, and of the addresses that are used.
  public static let maximumServers = 16

  /// The first server.
  public var firstServer: UpstreamServer { unixSocket.map { .unixSocket($0) } ?? .origin(origin) }
  /// The servers, in their order.
  public var servers: [UpstreamServer] { [firstServer] + otherServers }
  /// The `url` of the policy, or the first of its `urls`.
  public var url: String { firstServer.url }
  /// The `urls` of the policy, or its `url`, as one text.
  public var urls: String { servers.map(\.url).joined(separator: ", ") }

  /// The number of the `maxConnections` that are reserved for requests to the OAuth endpoints, so that other requests
  /// cannot use all connections. Default: an eighth.
  public var reservedConnections: Int {
    get { configuredReservedConnections ?? maxConnections / 8 }
    set { configuredReservedConnections = newValue }
  }

  /// The settings of `upstream:`.
  public static let table = SettingTable<UpstreamSettings>(
    "upstream", "The legacy authorization server.",
    alternativeRequiredKeys: [["kind", "url"], ["kind", "urls"], ["endpoints", "url"], ["endpoints", "urls"]],
    [
      .customReader(
        "url", urlForm,
        """
        Scheme, host and port of the server, or the Unix socket on which it listens, such as `unix:/run/legacy.sock`; a \
        name after `unix:@` is in the abstract namespace of Linux
        """,
        default: "required without `urls`"),
      .customReader(
        "urls", .list(urlForm, minimumCount: 1),
        """
        The URLs of several servers that share their accounts and codes, all http or all https, in place of `url`. All \
        get the same `Host`, and with https the name of the first as the server name; at most 16 addresses are used
        """,
        default: "`url` alone"),
      .customReader(
        "host",
        .any([.choice(["origin", "upstream"]), .text("a host, with a port if needed", pattern: "^[^/?#@ ]+$")]),
        """
        `Host` in requests to the server. `origin`: the public host, that of `gateway.origin`; `upstream`: the host of \
        `url`; any other text: this host. Frameworks compare it with the hosts that they are configured for and with \
        `Origin`. The certificate and the server name of TLS follow `url`
        """,
        default: "`origin` for http and Unix sockets without `tls`, `upstream` for https"),
      .customReader(
        "affinity",
        .any([.choice(["none", "address"]), .text("the name of a cookie", pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")]),
        """
        The choice of one of several addresses. `none`: that with the fewest requests in progress; `address`: one that \
        follows from the client's address; any other word, such as `JSESSIONID`: the address that set the cookie with \
        this name, for servers that keep sessions in memory
        """,
        default: "required with several `urls`; otherwise the first address that accepts connections"),
      .customReader(
        "kind", .choice(ServerPreset.all.map(\.kind)),
        "The server: the values of its [preset](servers.md) are the defaults of `upstream`",
        default: "no preset"),
      .customReader(
        "endpoints", .section("endpoints"), "Its OAuth endpoints",
        default: "those of the `kind`; required without it"),
      .choice(
        "callback", \.callback,
        """
        The place where the gateway completes an authorization response. `in_place`: in the server's response, before \
        it reaches the browser (`completion_paths`). `network`: at `/.proofgate/callback`; the browser then sees raw codes
        """
      ),
      .choice(
        "callback_risk", \.callbackRisk,
        "Accepts `callback: network` with a server that does not understand PKCE", default: "not accepted"),
      .paths(
        "pass", \.passPrefixes,
        """
        Path prefixes that the gateway forwards to the server; it answers 404 for all other paths. An empty list forwards \
        none, and `/` is every path
        """,
        default: "`/`"),
      .paths(
        "not_endpoints", \.notEndpoints,
        "Exact paths that resemble an endpoint but are none, such as `/oauth/token_key`; `*` matches one segment",
        default: "none"),
      .paths(
        "completion_paths", \.completionPaths,
        """
        Path prefixes, besides the authorization endpoints, whose answers may complete a sign-in, such as `/login` or \
        `/saml/acs`: the pages from which the server redirects to the app with a code. A code in the answer of any other \
        path is refused, and no sign-in can use it later; in observe mode, the log names the path
        """,
        default: "the authorization endpoints alone"),
      .number(
        "state_limit", \.stateLimit, .size(14...65_536),
        """
        Bytes of `state` that the server accepts. If a sealed state is longer, the gateway stores it and sends a \
        handle; it refuses the request if the stored value would exceed 4096 bytes. A sealed state has about 300 bytes and \
        four thirds of the app's own `state`, which may have 2 KiB
        """
      ),
      .seconds(
        "code_lifetime", \.codeLifetime, 1...86_400,
        "The time for which the server accepts a code; meanwhile a code belongs to the sign-in that got it first"),
      .seconds(
        "access_token_validity", \.accessTokenValidity, 600...maximumTokenValidity,
        """
        The longest time for which the server accepts an access token that it issues without a positive `expires_in`; \
        meanwhile the token belongs to the resource of its first request
        """
      ),
      .flag(
        "early_hints", \.earlyHints,
        """
        `true`: the `Link` fields of early hints (103, RFC 8297) go to clients of HTTP/1.1 and HTTP/2, for requests that \
        pass. A proxy in front of the gateway must know such responses
        """
      ),
      .flag(
        "forward_trailers", \.forwardsTrailers,
        """
        `true`: trailers of requests that pass go to the server, without those that mean something in a head. A \
        connection on which trailers were sent is closed after the response, because some servers add them to the next \
        request. Trailers of responses pass with either value
        """
      ),
      .flag(
        "cross_site_login", \.crossSiteLogin,
        """
        `true`: the sign-in ends with a form of another site (SAML, WS-Federation); the gateway's cookie then has \
        `SameSite=None`, and the gateway accepts its own forms from its own origin only
        """
      ),
      .choice(
        "pkce", \.usesPKCE, false: "strip", true: "forward",
        """
        PKCE at the server. `forward`: the server understands PKCE, and the gateway sends its own challenge for each \
        sign-in; `strip`: the gateway sends no PKCE parameter
        """
      ),
      .choice(
        "authentication", \.authentication,
        """
        The form in which the gateway sends the `client_secret` of a client that has no `authentication` of its own. \
        `basic`: form-encoded (RFC 6749, section 2.3.1); `basic_raw`: as it is, for servers that do not decode a secret with \
        `+`, `/`, `=` or `%` (RFC 7617); `post`: in the body
        """
      ),
      .customReader(
        "scopes", .section("scopes"), "The changes that the gateway makes to the scope of a request for the server",
        default: "none"),
      .customReader(
        "parameters", .list(.text("names"), allowsSingleValue: true),
        """
        Authorization request parameters that are forwarded in addition to those of OAuth and OpenID Connect Core; not \
        for registered clients and clients with a metadata document
        """,
        default: "none"),
      .customReader(
        "response_parameters",
        .list(.text("names", pattern: "^[A-Za-z0-9._-]{1,64}$"), allowsSingleValue: true),
        """
        Parameters of the server's authorization response that the app gets in addition to those of OAuth, such as \
        `realmId`, at most \(ResponseParameters.maximumCount); values with more than \
        \(ResponseParameters.maximumValueLength) bytes are dropped. The gateway ignores all other parameters that it \
        does not know (RFC 6749, section 4.1.2)
        """,
        default: "none"),
      .customReader(
        "errors",
        .mapping(keys: "words or statuses", pattern: "^.{1,128}$", of: .choice(UpstreamErrors.codes.map(\.rawValue))),
        """
        The OAuth errors that the server means by words of its own, such as `OAuthException: invalid_grant`, in answers of \
        its token endpoint. A word is the whole text or number of any member of `error`, `errors` or `fault`; a status from \
        400 to 500, such as `400: invalid_grant`, counts where no word is known (RFC 6749, section 5.2)
        """,
        default: "none; the gateway knows many words for a dead code or token"),
      .number(
        "max_connections", \.maxConnections, .number(1...1_000_000),
        "Connections to the server, for the whole process"),
      .number(
        "reserved_connections", \.configuredReservedConnections, .number(0...999_999),
        """
        The part of `max_connections` that is reserved for the OAuth endpoints, so that a flood of other requests \
        cannot keep users from signing in
        """,
        default: "an eighth of them"),
      .duration(
        "connection_age", \.connectionAge, 1_000...604_800_000,
        "The age after which a connection is closed at the end of its current request"),
      .number(
        "connection_requests", \.connectionRequests, .number(1...1_000_000),
        "The number of requests after which a connection is closed"),
      .customReader(
        "failure_statuses", .list(.number(500...599), allowsSingleValue: true),
        """
        Statuses of responses that count as failures of the server's address; an empty list if none does. A connection \
        that ends before a response, and a response that does not arrive in time, always count
        """,
        default: "`502`, `503`, `504`"),
      .number(
        "failure_count", \.failureCount, .number(1...1_000),
        """
        The number of failures in succession after which an address is out of service for a while, unless it is the last \
        one in service
        """
      ),
      .customReader(
        "health_check", .word("off", or: .section("health_check")),
        "Requests by which the gateway checks each address; see [below](#health_check)", default: "`off`"),
      .duration(
        "connect_timeout", \.connectTimeout, 10...600_000,
        "The longest time to open a connection, including the DNS lookup, for all addresses together"),
      .duration(
        "response_timeout", \.responseTimeout, 10...86_400_000,
        "The longest time from the last request byte to the response head"),
      .duration(
        "tcp_keepalive", \.tcpKeepalive, 1_000...32_767_000,
        "As `gateway.tcp_keepalive`, for connections to the server: a firewall may forget those of quiet tunnels",
        default: "no probes"),
      .duration(
        "tcp_user_timeout", \.tcpUserTimeout, 1_000...3_600_000,
        "As `gateway.tcp_user_timeout`, for connections to the server", default: "that of the system"),
      .customReader(
        "upgrades", .list(.text("protocol names", pattern: "^[a-z0-9./-]+$"), allowsSingleValue: true),
        "Protocols that an `Upgrade` may name, such as `websocket`", default: "none"),
      .customReader(
        "strip_headers",
        .list(.text("names; `*` matches any characters", pattern: headerPattern), allowsSingleValue: true),
        "Request fields that only `trusted_proxies` may send, in addition to the built-in list",
        default: "none"),
      .customReader(
        "keep_headers",
        .list(.text("names; `*` matches any characters", pattern: headerPattern), allowsSingleValue: true),
        "Request fields that every client may send although the built-in list has them", default: "none"),
      .customReader(
        "tls", .section("upstream_tls"), "TLS towards an https `url`",
        default: "verified with the machine's authorities"),
    ]
  ) { UpstreamSettings() }

  private static let urlForm = SettingForm.text(
    "https or http URL without a path, or `unix:` and a path", pattern: "^(https?://[^/?#@]+/?|unix:[/@].+)$")

  private static let headerPattern = "^[A-Za-z0-9!#$%&'*+.^_`|~-]{2,}$"

  /// Creates the defaults. The URL and the endpoints are placeholders until the reader of the policy sets them.
  public init() {
    self.init(origin: Origin(scheme: .https, host: ""), endpoints: EndpointPaths(authorization: [], token: []))
  }
}

/// The paths of the server's OAuth endpoints. Each is exactly the path at the server, with the slash at its beginning.
public struct EndpointPaths: Sendable {
  /// The authorization endpoints (RFC 6749, section 3.1).
  public var authorization: [String]
  /// The token endpoints (RFC 6749, section 3.2).
  public var token: [String]
  /// The revocation endpoints (RFC 7009).
  public var revocation: [String]
  /// The introspection endpoints (RFC 7662).
  public var introspection: [String]
  /// The paths for pushed authorization requests (RFC 9126). The gateway answers the requests of clients in `mode:
  /// enforce` itself, and forwards those of clients in `mode: observe`. If no client may push, the paths answer 404,
  /// like those in `closed`.
  public var pushedAuthorization: [String]
  /// The device authorization endpoints (RFC 8628, section 3.1). The gateway forwards requests if an enforced client may
  /// use the grant. Otherwise the paths answer 404, like those in `closed`.
  public var deviceAuthorization: [String] = []
  /// The paths of endpoints that the gateway does not support, and therefore refuses with 404: dynamic registration.
  public var closed: [String]
  /// The paths of the server's own metadata documents, which only the gateway reads. If empty (default), the gateway
  /// searches at ``metadataPaths``.
  public var metadata: [String] = []

  /// Creates paths. A kind whose argument is omitted has no endpoints.
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

  /// The settings of `endpoints:`.
  public static let table = SettingTable<EndpointPaths>(
    "endpoints", "Paths of the server's OAuth endpoints, exactly as the server has them.",
    [
      .paths(
        "authorization", \.authorization,
        "The gateway checks authorization requests, seals their state and forwards them (RFC 6749, section 3.1)",
        default: "that of the `kind`; required without it"),
      .paths(
        "token", \.token, "The gateway verifies token requests before it forwards them (RFC 6749, section 3.2)",
        default: "that of the `kind`; required without it"),
      .paths(
        "revocation", \.revocation,
        "The gateway replaces a sealed refresh token by the upstream's token and forwards the request (RFC 7009)",
        default: "none"),
      .paths(
        "introspection", \.introspection,
        """
        The gateway forwards requests with the credentials of the caller (RFC 7662), and limits failed attempts as at \
        the token endpoint
        """,
        default: "none"),
      .paths(
        "pushed_authorization", \.pushedAuthorization,
        """
        The gateway itself accepts pushed authorization requests here if any client may push, and else answers 404. \
        Requests of enforced clients never reach an endpoint of the server: they would bypass the gateway (RFC 9126)
        """,
        default: "none"),
      .paths(
        "device_authorization", \.deviceAuthorization,
        """
        The gateway forwards device authorization requests of clients that may use the grant, and their polls, so that \
        the server runs the flow; 404 without such a client (RFC 8628)
        """,
        default: "none: the gateway runs the flow"),
      .customReader(
        "registration", .paths, "The server's dynamic registration: the gateway answers 404 (RFC 7591)",
        default: "none"),
      .paths(
        "metadata", \.metadata,
        """
        The server's metadata documents. The gateway reads the first that it finds, and makes its own from it \
        (RFC 8414; OpenID Connect Discovery)
        """,
        default: "the well-known paths, if the server has a document there"),
    ]
  ) { EndpointPaths(authorization: [], token: []) }
}

/// The place where the gateway completes an authorization response of the upstream (invariant `I-completion`): it
/// replaces the upstream's code with a sealed one, and sends the response to the client.
public enum CallbackMode: String, Sendable, CaseIterable {
  /// In the server's response, before the gateway forwards it, so that the browser never sees a code of the upstream.
  case inPlace = "in_place"
  /// At the gateway's callback, for an upstream that sends its authorization response by script, by `form_post` or from
  /// another origin. The browser then sees the code.
  case atCallback = "network"
}

/// The operator's acceptance of the risk of `callback: network` with a server that does not understand PKCE. A program
/// that sees the server's code before the gateway does can present this code at the gateway's callback in a sign-in of
/// its own, and so get the user's tokens.
public enum CallbackRisk: String, Sendable, CaseIterable {
  /// The operator accepts the risk.
  case accepted
}
