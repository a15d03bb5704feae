/// How the gateway itself runs (`gateway:` in the policy file).
public struct GatewaySettings: Sendable {
  /// The path under which everything of the gateway's own lives.
  public static let ownPath = "/.proofgate/"

  /// Where clients reach the gateway: scheme, host and port, e.g. `https://id.example.com`.
  public var origin: Origin
  /// The issuer identifier (RFC 8414, section 2; RFC 9207), sent as `iss`. May have a path.
  public var issuer: String
  public var listeners: [ListenerSettings]
  /// True if HTTP/2 is spoken to clients that want it.
  public var http2 = true
  /// Where metrics, health and the status page are served; `nil` when switched off.
  public var admin: SocketAddress?
  /// Event loops; `nil` means as many as the process may use processors.
  public var workers: Int?
  public var replicas: Int
  public var store = StoreLocation.memory()
  public var branding = Branding()
  public var limits = LimitSettings()
  public var sealingKeys: FileReference?
  /// Peers whose forwarding headers are believed.
  public var trustedProxies: [AddressRange] = []
  public var halfClose = HalfClose.cancel
  /// Milliseconds in which connections are still accepted after SIGTERM.
  public var drainDelay = 0
  /// Milliseconds that a drain may take in all; `nil`: 30 s after the delay.
  public var drainLimit: Int?
  /// `nil` when switched off.
  public var strictTransport: StrictTransport? = StrictTransport()

  public init(origin: Origin, issuer: String, listeners: [ListenerSettings], admin: SocketAddress?, replicas: Int = 1) {
    self.origin = origin
    self.issuer = issuer
    self.listeners = listeners
    self.admin = admin
    self.replicas = replicas
  }

  /// How long a drain may take in all, in milliseconds.
  public var drainTimeout: Int { drainLimit ?? drainDelay + 30_000 }

  public static let table = SettingTable<GatewaySettings>(
    "gateway", "How the gateway itself runs.", alternatives: [["origin"], ["issuer"]],
    [
      .other(
        "origin", .text("https; http on loopback hosts", pattern: "^https?://[^/?#@]+$"),
        "The URL at which clients reach the gateway: scheme, host and port", default: "the origin of `issuer`"),
      .other(
        "issuer", .text("https URL, may have a path", pattern: "^https?://[^?#@]+$"),
        "The issuer identifier, as the upstream's ID tokens say it (RFC 8414, section 2; RFC 9207)",
        default: "`origin`"),
      .other(
        "listeners", .list(.section("listener"), least: 1), "Addresses to listen on",
        required: "a list such as `- address: 127.0.0.1:8080`"),
      .flag("http2", \.http2, "HTTP/2 for clients that want it"),
      .other(
        "admin", .word("off", or: .text("address")), "The address of metrics, health and the status page",
        default: "`127.0.0.1:9180`"),
      .number(
        "workers", \.workers, .word("auto", or: .number(1...1_024)), "Event loops",
        default: "`auto`: as many as the process may use processors"),
      .number(
        "replicas", \.replicas, .number(1...10_000),
        "Gateways that serve this policy together; more than one need `sealing_keys` and a shared `store`"),
      .other(
        "store",
        .any([.text("`memory`, `redis://HOST:PORT/DB`", pattern: "^(memory|rediss?://.+)$"), .section("store")]),
        """
        The place of what is used once, refresh families and handles, and its size; see \
        [operations.md](operations.md#the-store)
        """,
        default: "`{ memory: 128MiB }`"),
      .other("branding", .section("branding"), "The operator on the gateway's pages", default: "nothing"),
      .other(
        "limits", .section("limits"), "Limits for one client, one request and the whole process",
        default: "the defaults of its settings"),
      .other(
        "sealing_keys", .section("file"), "The key ring that seals state, codes and tokens",
        default: "an ephemeral key, lost at restart"),
      .other(
        "trusted_proxies", .list(.text("blocks"), orSingle: true),
        "Addresses and blocks whose forwarding and identity headers are believed", default: "none"),
      .choice(
        "half_close", \.halfClose,
        """
        The meaning of a client's end of sending (FIN) while a GET, HEAD or OPTIONS request of it has no response yet. \
        `cancel`: it has gone away, and the request is cancelled. `serve`: it still waits for the response
        """
      ),
      .number(
        "drain_delay", \.drainDelay, .duration(0...3_600_000),
        "The time in which connections are still accepted after SIGTERM"),
      .number(
        "drain_timeout", \.drainLimit, .duration(1_000...86_400_000),
        "The longest time of a drain, the delay included", default: "the delay and `30s`"),
      .other(
        "strict_transport_security", .word("off", or: .section("strict_transport_security")),
        """
        The `Strict-Transport-Security` of answers over TLS: browsers then use https only (RFC 6797; RFC 9325, section \
        3.2)
        """,
        default: "a year, without subdomains"),
    ]
  ) { GatewaySettings() }

  /// The settings of a gateway that sets nothing, until its origin and its listeners are known.
  public init() {
    self.init(
      origin: Origin(scheme: .https, host: ""), issuer: "", listeners: [],
      admin: SocketAddress(host: "127.0.0.1", port: 9180))
  }
}

/// The meaning of a client's end of sending while a safe request of it has no response yet.
public enum HalfClose: String, Sendable, CaseIterable {
  /// The client has gone away, as browsers and impatient users do: the request to the upstream is cancelled.
  case cancel
  /// The client still waits for the response.
  case serve
}

public struct ListenerSettings: Sendable {
  public var address: SocketAddress
  public var tls: ListenerTLS?
  /// True if trusted proxies tell the peer's address with the PROXY protocol.
  public var proxyProtocol: Bool

  public init(address: SocketAddress, tls: ListenerTLS? = nil, proxyProtocol: Bool = false) {
    self.address = address
    self.tls = tls
    self.proxyProtocol = proxyProtocol
  }

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
        `true`: only `trusted_proxies` may connect, and each has to name the client of a connection with the PROXY \
        protocol, version 1 or 2
        """
      ),
    ]
  ) { ListenerSettings(address: SocketAddress(host: "", port: 0)) }
}

public struct FileReference: Sendable {
  public let path: String

  public init(path: String) {
    self.path = path
  }
}

public enum StoreLocation: Sendable {
  /// Bytes: room for 650,000 families of refresh tokens.
  public static let usualSize = 128 << 20

  /// - size: Bytes at most, of all entries.
  case memory(size: Int = usualSize)
  case redis(String)
}

/// What the gateway's own pages show of the operator.
public struct Branding: Sendable {
  public var name: String?
  /// An https URL, or a path on the gateway's origin.
  public var supportURL: String?

  public init(name: String? = nil, supportURL: String? = nil) {
    self.name = name
    self.supportURL = supportURL
  }

  public static let table = SettingTable<Branding>(
    "branding", "The operator on the gateway's own pages.",
    [
      .text("name", \.name, "The operator's name", default: "none"),
      .other(
        "support_url", .text("https URL, or a path on the gateway's origin", pattern: "^(https://.+|/([^/].*)?)$"),
        "The page on which users find help", default: "none"),
    ]
  ) { Branding() }
}
