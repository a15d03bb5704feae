/// The settings of the gateway process: addresses, keys, store and limits (`gateway:` in the policy file).
public struct GatewaySettings: Sendable {
  /// The prefix of the paths that the gateway serves itself and never forwards.
  public static let ownPath = "/.proofgate/"

  /// The scheme, host and port at which clients reach the gateway, e.g. `https://id.example.com`.
  public var origin: Origin
  /// The issuer identifier (RFC 8414, section 2; RFC 9207), sent as `iss`. It may have a path.
  public var issuer: String
  /// The addresses on which the gateway accepts clients, at least one.
  public var listeners: [ListenerSettings]
  /// True (default) if the gateway offers HTTP/2 to clients.
  public var http2 = true
  /// The address of metrics, health checks and the status page; `nil` turns them off.
  public var admin: SocketAddress?
  /// The number of event loops; `nil`: one for each processor that the process may use.
  public var workers: Int?
  /// The number of gateways that serve this policy together. More than one need `sealingKeys` and a shared `store`.
  public var replicas: Int
  /// The location of one-time values, refresh token families and handles. Default: memory of the process.
  public var store = StoreLocation.memory()
  /// The operator's name and help page, shown on the gateway's pages. Default: neither.
  public var branding = Branding()
  /// The limits for one client, one request and the whole process.
  public var limits = LimitSettings()
  /// The file of the keys that seal state, codes and tokens; `nil`: a key in memory, which is lost at a restart.
  public var sealingKeys: FileReference?
  /// The peers whose forwarding and identity fields the gateway trusts. Default: none.
  public var trustedProxies: [AddressRange] = []
  /// The meaning of a client's FIN while a safe request has no response yet. Default: the request is cancelled.
  public var halfClose = HalfClose.cancel
  /// The time in milliseconds after SIGTERM in which the gateway still accepts connections. Default: 0.
  public var drainDelay = 0
  /// The longest time in milliseconds of a drain, including the delay; `nil`: 30 s after the delay.
  public var drainLimit: Int?
  /// The `Strict-Transport-Security` of responses over TLS; `nil`: the gateway sends none. Default: a year.
  public var strictTransport: StrictTransport? = StrictTransport()

  /// Creates settings; everything that is not an argument has its default.
  public init(origin: Origin, issuer: String, listeners: [ListenerSettings], admin: SocketAddress?, replicas: Int = 1) {
    self.origin = origin
    self.issuer = issuer
    self.listeners = listeners
    self.admin = admin
    self.replicas = replicas
  }

  /// The longest time in milliseconds of a drain, including the delay.
  public var drainTimeout: Int { drainLimit ?? drainDelay + 30_000 }

  /// The settings of `gateway:`.
  public static let table = SettingTable<GatewaySettings>(
    "gateway", "The settings of the gateway process.", alternatives: [["origin"], ["issuer"]],
    [
      .other(
        "origin", .text("https; http on loopback hosts", pattern: "^https?://[^/?#@]+$"),
        "The URL at which clients reach the gateway: scheme, host and port", default: "the origin of `issuer`"),
      .other(
        "issuer", .text("https URL, may have a path", pattern: "^https?://[^?#@]+$"),
        "The issuer identifier, the same as in the upstream's ID tokens (RFC 8414, section 2; RFC 9207)",
        default: "`origin`"),
      .other(
        "listeners", .list(.section("listener"), least: 1), "Addresses to listen on",
        required: "a list such as `- address: 127.0.0.1:8080`"),
      .flag("http2", \.http2, "`true`: the gateway offers HTTP/2 to clients"),
      .other(
        "admin", .word("off", or: .text("address")), "The address of metrics, health and the status page",
        default: "`127.0.0.1:9180`"),
      .number(
        "workers", \.workers, .word("auto", or: .number(1...1_024)), "Event loops",
        default: "`auto`: one for each processor that the process may use"),
      .number(
        "replicas", \.replicas, .number(1...10_000),
        "Gateways that serve this policy together; more than one need `sealing_keys` and a shared `store`"),
      .other(
        "store",
        .any([.text("`memory`, `redis://HOST:PORT/DB`", pattern: "^(memory|rediss?://.+)$"), .section("store")]),
        """
        The store of one-time values, refresh token families and handles, and its size; see \
        [operations.md](operations.md#the-store)
        """,
        default: "`{ memory: 128MiB }`"),
      .other(
        "branding", .section("branding"), "The operator's name and help page, shown on the gateway's pages",
        default: "neither"),
      .other(
        "limits", .section("limits"), "Limits for one client, one request and the whole process",
        default: "the defaults of its settings"),
      .other(
        "sealing_keys", .section("file"), "The key ring that seals state, codes and tokens",
        default: "an ephemeral key, lost at restart"),
      .other(
        "trusted_proxies", .list(.text("blocks"), orSingle: true),
        "Addresses and blocks whose forwarding and identity headers the gateway trusts", default: "none"),
      .choice(
        "half_close", \.halfClose,
        """
        The meaning of a FIN from a client whose GET, HEAD or OPTIONS request has no response yet. `cancel`: the \
        client has gone away, and the gateway cancels the request. `serve`: the client still waits for the response
        """
      ),
      .number(
        "drain_delay", \.drainDelay, .duration(0...3_600_000),
        "The time after SIGTERM in which the gateway still accepts connections"),
      .number(
        "drain_timeout", \.drainLimit, .duration(1_000...86_400_000),
        "The longest time of a drain, including the delay", default: "the delay and `30s`"),
      .other(
        "strict_transport_security", .word("off", or: .section("strict_transport_security")),
        """
        The `Strict-Transport-Security` of responses over TLS, with which browsers use https only (RFC 6797; RFC 9325, \
        section 3.2)
        """,
        default: "a year, without subdomains"),
    ]
  ) { GatewaySettings() }

  /// Creates the defaults, with placeholders for the origin and the listeners until the policy file gives them.
  public init() {
    self.init(
      origin: Origin(scheme: .https, host: ""), issuer: "", listeners: [],
      admin: SocketAddress(host: "127.0.0.1", port: 9180))
  }
}

/// The meaning of a FIN from a client whose safe request has no response yet.
public enum HalfClose: String, Sendable, CaseIterable {
  /// The client has gone away, as when a user closes a page: the gateway cancels the request to the upstream.
  case cancel
  /// The client still waits for the response.
  case serve
}

/// An address on which the gateway accepts clients (an item of `gateway.listeners`).
public struct ListenerSettings: Sendable {
  /// The address literal and port to listen on.
  public var address: SocketAddress
  /// The certificates and versions of TLS; `nil`: plaintext.
  public var tls: ListenerTLS?
  /// True if only trusted proxies may connect, and each sends the client's address with the PROXY protocol.
  public var proxyProtocol: Bool

  /// Creates a listener, by default without TLS and without the PROXY protocol.
  public init(address: SocketAddress, tls: ListenerTLS? = nil, proxyProtocol: Bool = false) {
    self.address = address
    self.tls = tls
    self.proxyProtocol = proxyProtocol
  }

  /// The settings of an item of `listeners:`.
  public static let table = SettingTable<ListenerSettings>(
    "listener", "An address to listen on.",
    [
      .other(
        "address", .text("address"), "The address; with port 0 the system chooses one",
        required: "one such as `127.0.0.1:8080`"),
      .other("tls", .section("tls"), "TLS of the listener", default: "plaintext"),
      .flag(
        "proxy_protocol", \.proxyProtocol,
        """
        `true`: only `trusted_proxies` may connect, and each must send the client's address with the PROXY protocol, \
        version 1 or 2
        """
      ),
    ]
  ) { ListenerSettings(address: SocketAddress(host: "", port: 0)) }
}

/// A file that is read later than the policy, such as the ring of sealing keys.
public struct FileReference: Sendable {
  /// The path, already resolved against the policy file that names it.
  public let path: String

  /// Creates a reference to the file at `path`.
  public init(path: String) {
    self.path = path
  }
}

/// The location of the store (`gateway.store`).
public enum StoreLocation: Sendable {
  /// The default size in bytes: 128 MiB, room for 650,000 families of refresh tokens.
  public static let usualSize = 128 << 20

  /// Memory of this process, which other replicas cannot use.
  ///
  /// - size: The most bytes of all entries together.
  case memory(size: Int = usualSize)
  /// A shared server, as `redis://HOST:PORT/DB`. Not supported yet.
  case redis(String)
}

/// The operator's name and help page, shown on the gateway's pages (`gateway.branding`).
public struct Branding: Sendable {
  /// The name of the operator; `nil`: the pages show none.
  public var name: String?
  /// The address of the help page: an https URL, or a path on the gateway's origin; `nil`: no link.
  public var supportURL: String?

  /// Creates branding, by default without name and help page.
  public init(name: String? = nil, supportURL: String? = nil) {
    self.name = name
    self.supportURL = supportURL
  }

  /// The settings of `branding:`.
  public static let table = SettingTable<Branding>(
    "branding", "The operator's name and help page, shown on the gateway's pages.",
    [
      .text("name", \.name, "The operator's name", default: "none"),
      .other(
        "support_url", .text("https URL, or a path on the gateway's origin", pattern: "^(https://.+|/([^/].*)?)$"),
        "The page where users find help", default: "none"),
    ]
  ) { Branding() }
}
