import OAuth
public import Time

/// The settings of the gateway process, such as addresses, keys, store and limits (`gateway:` in the policy file).
public struct GatewaySettings: Sendable {
  /// The prefix of the paths that belong to the gateway and are never forwarded.
  public static let ownPath = "/.proofgate/"
  /// The path of the list of rules. The page of each rule is below it, under the id of the rule.
  public static let rulesPath = "/.proofgate/rules"
  /// The path of the device authorization endpoint (RFC 8628, section 3.1). It exists if a client has the device grant.
  public static let deviceAuthorizationPath = "/device_authorization"
  /// The path of the page on which users enter the code of a device. It is short, because users type it.
  public static let devicePath = "/device"

  /// The scheme, host and port at which clients reach the gateway, e.g. `https://id.example.com`.
  public var origin: Origin {
    didSet { rulesURL = GatewaySettings.rulesURL(at: origin) }
  }
  /// The URL of the list of rules, a part of each destination of an authorization response.
  public private(set) var rulesURL: String
  /// The issuer identifier (RFC 8414, section 2), which is sent as `iss` (RFC 9207). It may have a path.
  public var issuer: String
  /// The addresses on which the gateway accepts connections from clients. There is at least one.
  public var listeners: [ListenerSettings]
  /// True if the gateway offers HTTP/2 to clients. Default: true.
  public var http2 = true
  /// The address of metrics, health checks and the status page; `nil` if they are turned off.
  public var admin: SocketAddress?
  /// Further names by which requests may reach the admin listener. One that begins with a period means all names below it.
  public var adminHosts: [String] = []
  /// The number of workers (threads with an event loop each). If `nil`, there is one worker for each processor that the
  /// process may use.
  public var workers: Int?
  /// The number of gateways that serve this policy together. Several gateways need `sealingKeys` and a shared `store`.
  public var replicas: Int
  /// The store of state that outlives a request, such as the codes that have been redeemed. Default: the memory of the
  /// process.
  public var store = StoreLocation.memory()
  /// The number of replicas of a Redis store that must have received a write before the gateway treats the write as
  /// done. If `nil`, the number is 1 if the gateway asks sentinels for the address of the server, and 0 otherwise.
  public var storeMinReplicas: Int?
  /// The bytes that the entries of one gateway may use in a Redis store. If `nil`, `RedisSettings.defaultSize`.
  public var storeSize: Int?
  /// The treatment of refresh tokens whose family (all refresh tokens of one sign-in) the store has lost. Default: a
  /// lost family may be refreshed once more.
  public var storeEpochRule = StoreEpochRule.once
  /// The operator's name, help page, logo, color and texts for the gateway's pages. Default: none.
  public var branding = Branding()
  /// The limits for one client, one request and the whole process.
  public var limits = LimitSettings()
  /// The file with the keys that seal states, codes and refresh tokens; `nil` for a key in memory, which is lost at a
  /// restart.
  public var sealingKeys: FileReference?
  /// The proxies whose forwarding fields (such as `X-Forwarded-For`) and identity fields the gateway trusts. Default:
  /// none.
  public var trustedProxies: [AddressRange] = []
  /// The paths at which the gateway serves its metadata document (RFC 8414; OpenID Connect Discovery).
  public enum MetadataService: String, Sendable, CaseIterable {
    /// The well-known paths in front of the path of the issuer, behind it, and at the root of the host.
    case on
    /// The same paths as `on`, for an issuer on another host than the gateway. The web server of that host serves the
    /// gateway's document, because clients read it there.
    case mirrored
    /// No path. Requests for a metadata document are refused.
    case off
  }

  /// The meaning of a client's FIN while a safe request (GET, HEAD or OPTIONS) has no response yet. Default: the
  /// gateway cancels the request.
  public var halfClose = HalfClose.cancel
  /// The time without traffic after which the kernel sends TCP probes to a client; `nil` for none.
  public var tcpKeepalive: Milliseconds?
  /// The time for which bytes to a client may stay without acknowledgement (`TCP_USER_TIMEOUT`); `nil` for the system's.
  public var tcpUserTimeout: Milliseconds?
  /// The time after SIGTERM in which the gateway still accepts connections. Default: 0.
  public var drainDelay: Milliseconds = 0
  /// The `drain_timeout` of the policy; `nil` if the policy does not set it. Use `drainTimeout` instead.
  public var configuredDrainTimeout: Milliseconds?
  /// The `Strict-Transport-Security` field of responses over TLS; `nil` if the field is not sent. Default: a year.
  public var strictTransport: StrictTransport? = StrictTransport()

  /// The paths at which the gateway serves its metadata document (RFC 8414). Default: those of the issuer.
  public var metadata = MetadataService.on
  /// The time for which the gateway and its clients may keep metadata documents. Default: 10 minutes.
  public var metadataLifetime: Seconds = 600
  /// The value of `scopes_supported` in the gateway's metadata document; `nil` for that of the server's document.
  public var supportedScopes: [String]?
  /// The origins whose scripts may send requests to the endpoints that clients call directly (CORS). Default: none.
  public var corsOrigins: [ScriptOrigin] = []

  /// The messages that carry the id of their request. Default: those of the gateway.
  public var requestIDs = RequestIDMessages.own
  /// The treatment of requests without a trace. Default: the gateway starts one.
  public var traceContext = TraceContextRule.start

  /// The treatment of a request whose line has no room in the decision log. Default: the line is dropped and counted.
  public var logOverflow = LogOverflow.drop
  /// The file in which lines of the decision log wait while their destination does not accept them; `nil` for none.
  public var logSpool: String?
  /// The maximum length of that file, in bytes. Default: 64 MiB.
  public var logSpoolSize = 64 << 20
  /// The access log; `nil` for none.
  public var accessLog: AccessLogSettings?
  /// The form of the messages on standard error. Default: text.
  public var notices = NoticeForm.text

  /// Creates settings. Properties that are not arguments have their defaults.
  public init(origin: Origin, issuer: String, listeners: [ListenerSettings], admin: SocketAddress?, replicas: Int = 1) {
    self.origin = origin
    rulesURL = GatewaySettings.rulesURL(at: origin)
    self.issuer = issuer
    self.listeners = listeners
    self.admin = admin
    self.replicas = replicas
  }

  private static func rulesURL(at origin: Origin) -> String { origin.description + rulesPath }

  /// The maximum time of a drain, including `drainDelay`. Default: 30 s after the delay.
  public var drainTimeout: Milliseconds { configuredDrainTimeout ?? drainDelay + 30_000 }

  /// The settings of `gateway:`.
  public static let table = SettingTable<GatewaySettings>(
    "gateway", "The settings of the gateway process.", alternativeRequiredKeys: [["origin"], ["issuer"]],
    [
      .customReader(
        "origin", .text("https; http on loopback hosts", pattern: "^https?://[^/?#@]+$"),
        "The URL at which clients reach the gateway: scheme, host and port", default: "the origin of `issuer`"),
      .customReader(
        "issuer", .text("https URL, may have a path", pattern: "^https?://[^?#@]+$"),
        "The issuer identifier, the same as in the upstream's ID tokens (RFC 8414, section 2; RFC 9207)",
        default: "`origin`"),
      .customReader(
        "listeners", .list(.section("listener"), minimumCount: 1), "Addresses to listen on",
        adviceIfMissing: "a list such as `- address: 127.0.0.1:8080`"),
      .flag("http2", \.http2, "`true`: the gateway offers HTTP/2 to clients"),
      .customReader(
        "admin", .word("off", or: .text("address")), "The address of metrics, health and the status page",
        default: "`127.0.0.1:9180`"),
      .customReader(
        "admin_hosts", .list(.text("host names"), allowsSingleValue: true),
        "Further names by which requests may reach the admin listener", default: "none"),
      .number(
        "workers", \.workers, .word("auto", or: .number(1...1_024)), "Event loops",
        default: "`auto`: one for each processor that the process may use"),
      .number(
        "replicas", \.replicas, .number(1...10_000),
        "Gateways that serve this policy together; more than one need `sealing_keys` and a shared `store`"),
      .customReader(
        "store",
        .any([
          .text("`memory`, URL of a Redis server", pattern: "^(memory|rediss?(\\+sentinel)?://.+|redis\\+unix:/.+)$"),
          .section("store"),
        ]),
        """
        The store of one-time values, refresh token families and handles, and its size; see \
        [operations.md](operations.md#the-store)
        """,
        default: "`{ memory: 128MiB }`"),
      .customReader(
        "store_password", .section("secret"), "The password of the user at the Redis server",
        default: "no authentication"),
      .customReader(
        "store_sentinel_password", .section("secret"), "The password of the sentinels", default: "no authentication"),
      .customReader(
        "store_ca", .text("file name"),
        """
        PEM file with the authorities that may issue the certificate of the Redis server; all others are then untrusted
        """,
        default: "the machine's authorities"),
      .customReader(
        "store_key_prefix",
        .text("text without spaces and glob characters", pattern: "^[!-)+->@-Z^-~]{1,64}$", maximumLength: 64),
        "The first characters of all keys in the Redis server, for example to share it with other programs",
        default: "`proofgate:`"),
      .number(
        "store_min_replicas", \.storeMinReplicas, .number(0...100),
        "Replicas of the Redis server that must have a write before it counts",
        default: "`1` with sentinels, otherwise `0`"),
      .number(
        "store_size", \.storeSize, .size(1_048_576...1_099_511_627_776),
        """
        The most bytes that the entries of one gateway use in the Redis server. The server's `maxmemory` must be at \
        least one and a half times this size for each gateway
        """, default: "`128MiB`"),
      .choice(
        "store_epoch", \.storeEpochRule,
        """
        The treatment of refresh tokens that were issued before the store lost data or its primary changed. `once`: \
        such a token is accepted once, also if the store has lost its family. `strict`: all of these tokens are refused
        """
      ),
      .customReader(
        "branding", .section("branding"),
        "The operator's name, help page, logo, color and texts on the gateway's pages",
        default: "none"),
      .customReader(
        "limits", .section("limits"), "Limits for one client, one request and the whole process",
        default: "the defaults of its settings"),
      .customReader(
        "sealing_keys", .section("file"), "The key ring that seals state, codes and tokens",
        default: "an ephemeral key, lost at restart"),
      .customReader(
        "trusted_proxies", .list(.text("blocks"), allowsSingleValue: true),
        """
        Addresses and blocks whose forwarding and identity headers the gateway trusts; `unix` for all programs that \
        connect to a Unix-domain socket of `listeners`
        """, default: "none"),
      .choice(
        "half_close", \.halfClose,
        """
        The meaning of a FIN from a client whose GET, HEAD or OPTIONS request has no response yet. `cancel`: the \
        client has gone away, and the gateway cancels the request. `serve`: the client still waits for the response
        """
      ),
      .duration(
        "tcp_keepalive", \.tcpKeepalive, 1_000...32_767_000,
        """
        The time without traffic after which the kernel sends probes to a client. The connection ends if three probes, at \
        intervals of a third of this time, are not answered; with `tcp_user_timeout`, once no probe has been answered for \
        that time
        """,
        default: "no probes"),
      .duration(
        "tcp_user_timeout", \.tcpUserTimeout, 1_000...3_600_000,
        """
        The time for which bytes to a client may stay without acknowledgement before the connection ends (RFC 5482); also \
        the time for which a client may accept no bytes
        """,
        default: "that of the system, about 15 minutes"),
      .duration(
        "drain_delay", \.drainDelay, 0...3_600_000,
        "The time after SIGTERM in which the gateway still accepts connections"),
      .duration(
        "drain_timeout", \.configuredDrainTimeout, 1_000...86_400_000,
        "The longest time of a drain, including the delay", default: "the delay and `30s`"),
      .customReader(
        "strict_transport_security", .word("off", or: .section("strict_transport_security")),
        """
        The `Strict-Transport-Security` of responses over TLS, with which browsers use https only (RFC 6797; RFC 9325, \
        section 3.2)
        """,
        default: "a year, without subdomains"),
      .choice(
        "metadata", \.metadata,
        """
        The gateway's metadata document, from the first enforced client on. `on`: at the well-known paths of `issuer` \
        (RFC 8414, section 3; OpenID Connect Discovery, section 4) and of its host. `mirrored`: as `on`, if `issuer` is on \
        another host than `origin`, whose web server serves a copy of the document. `off`: at no path
        """
      ),
      .seconds(
        "metadata_lifetime", \.metadataLifetime, 10...86_400,
        "The time for which the gateway keeps the server's metadata document, and clients may keep the gateway's"),
      .customReader(
        "scopes_supported", .list(.text("scope tokens", pattern: ScopeRules.tokenPattern), allowsSingleValue: true),
        """
        The scopes that the gateway's metadata document names; some apps request all of them, and some refuse a document \
        without this member (RFC 8414, section 2)
        """,
        default: "see [below](#metadata)"),
      .choice(
        "log_overflow", \.logOverflow,
        """
        The treatment of a request whose line has no room in the decision log, because the lines before it cannot be \
        written. `drop`: the request is served, and the line is dropped and counted. `refuse`: the request is answered \
        with 503 before any rule runs, so that no decision is without a line
        """),
      .customReader(
        "log_spool", .text("file name"),
        """
        A file, relative to the file that names it, in which lines of the decision log wait while their destination does \
        not accept them
        """,
        default: "none"),
      .number(
        "log_spool_size", \.logSpoolSize, .size(1_048_576...1_099_511_627_776), "The maximum size of that file"),
      .customReader(
        "access_log", .word("off", or: .section("access_log")),
        """
        A line for each request, also for those that pass; see [below](#access_log). A reload applies all of its changes
        """,
        default: "`off`"),
      .choice(
        "notices", \.notices,
        """
        The form of the messages on standard error while the gateway serves. `text`: a line that begins with \
        `proofgate:`. `json`: an object with `time`, `level` and `message`
        """),
      .choice(
        "request_ids", \.requestIDs,
        """
        The messages whose `X-Request-ID` is the id of the request in the decision log. `own`: the requests that the \
        gateway makes, the answers of OAuth endpoints, and errors. `all`: also messages that pass, and those of \
        observed clients
        """),
      .choice(
        "trace_context", \.traceContext,
        """
        The `traceparent` of requests at the OAuth endpoints (W3C Trace Context). The log has the id of the trace. \
        `start`: a request without a valid field gets one. `continue`: only valid fields are forwarded
        """),
      .customReader(
        "cors_origins",
        .list(
          .text("https origins; http on loopback hosts; origins of apps", pattern: "^[a-z][a-z0-9+.-]*://[^/?#@]+$"),
          allowsSingleValue: true),
        """
        Origins whose scripts may register clients, and may read responses of the token, revocation, pushed \
        authorization request and device authorization endpoints if the client of the request has a redirect URI of \
        the same origin; those of web views in apps, such as `capacitor://localhost` and `https://localhost`, for each \
        native client
        """,
        default: "none"),
    ]
  ) { GatewaySettings() }

  /// Creates the defaults. The origin, the issuer and the listeners are placeholders until the reader of the policy
  /// sets them.
  public init() {
    self.init(
      origin: Origin(scheme: .https, host: ""), issuer: "", listeners: [],
      admin: SocketAddress(host: "127.0.0.1", port: 9180))
  }
}

extension GatewaySettings {
  /// The host names in the origin and the issuer, in lower case. Without loopback hosts, which a gateway shares with the
  /// programs of the machine.
  public var hosts: [String] {
    [origin.isLoopback ? "" : origin.description + "/", issuer, issuer + "/"].compactMap { text in
      guard case .https(let host)? = (try? RedirectURI(parsing: text))?.kind else { return nil }
      return host == origin.host && origin.isLoopback ? nil : host.lowercased()
    }
  }
}

/// The meaning of a client's FIN while a safe request (GET, HEAD or OPTIONS) has no response yet.
public enum HalfClose: String, Sendable, CaseIterable {
  /// The client has gone away, for example because the user closed the page. The gateway cancels the request to the
  /// upstream.
  case cancel
  /// The client still waits for the response.
  case serve
}

/// A file that is read after the policy, such as the key ring.
public struct FileReference: Sendable {
  /// The path. A relative path in the policy is already resolved against the policy file.
  public let path: String

  /// Creates a reference to the file at `path`.
  public init(path: String) {
    self.path = path
  }
}

/// The location of the store (`gateway.store`).
public enum StoreLocation: Equatable, Sendable {
  /// The default size of a store in memory: 128 MiB. This is enough for the refresh tokens of 650,000 sign-ins.
  public static let defaultMemorySize = 128 << 20
  /// The default size of a store in a file: 256 MiB. This is enough for the refresh tokens of 811,000 sign-ins.
  public static let defaultFileSize = 256 << 20

  /// The memory of this process, which other replicas cannot use.
  ///
  /// - size: The maximum size of all entries together, in bytes.
  case memory(size: Int = defaultMemorySize)
  /// A file of this machine, which only one gateway can use.
  ///
  /// - size: The maximum size of all entries together, in bytes.
  case file(path: String, size: Int = defaultFileSize)
  /// A Redis or Valkey server that several replicas share.
  case redis(RedisSettings)
}

/// The treatment of refresh tokens of an earlier epoch (`gateway.store_epoch`). A new epoch of the store begins when its
/// data was lost or its primary changed. The store may then have lost the use of such a token, or the end of its family.
public enum StoreEpochRule: String, Sendable, CaseIterable {
  /// A token of an earlier epoch is accepted once. If the store has lost its family, it then records the family again.
  case once
  /// No token of an earlier epoch is accepted.
  case strict
}
