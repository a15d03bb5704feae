/// How the gateway itself runs (`gateway:` in the policy file).
public struct GatewaySettings: Sendable {
  /// The path under which everything of the gateway's own lives.
  public static let ownPath = "/.proofgate/"

  /// Where clients reach the gateway: scheme, host and port, e.g. `https://id.example.com`.
  public var origin: Origin
  /// The issuer identifier (RFC 8414, section 2; RFC 9207), sent as `iss`. May have a path.
  public var issuer: String
  public var listeners: [Listener]
  /// Whether HTTP/2 is spoken to clients that want it.
  public var http2 = true
  public var halfClose = HalfClose.cancel
  /// Where metrics, health and the status page are served; `nil` when switched off.
  public var admin: SocketAddress?
  /// Event loops; `nil` means as many as the process may use processors.
  public var workers: Int?
  public var replicas: Int
  public var sealingKeys: FileReference?
  public var store: StoreLocation
  /// Peers whose forwarding headers are believed.
  public var trustedProxies: [AddressRange]
  /// How long connections are still accepted after SIGTERM, in milliseconds.
  public var drainDelay: Int
  /// How long a drain may take in all, in milliseconds.
  public var drainTimeout: Int
  public var branding: Branding
  public var limits: LimitSettings
  /// `nil` when switched off.
  public var strictTransport: StrictTransport?

  public init(
    origin: Origin, issuer: String, listeners: [Listener], admin: SocketAddress?, workers: Int? = nil,
    replicas: Int = 1, sealingKeys: FileReference? = nil, store: StoreLocation = .memory(),
    trustedProxies: [AddressRange] = [], drainDelay: Int = 0, drainTimeout: Int = 30_000,
    branding: Branding = Branding(), limits: LimitSettings = LimitSettings(),
    strictTransport: StrictTransport? = StrictTransport()
  ) {
    self.origin = origin
    self.issuer = issuer
    self.listeners = listeners
    self.admin = admin
    self.workers = workers
    self.replicas = replicas
    self.sealingKeys = sealingKeys
    self.store = store
    self.trustedProxies = trustedProxies
    self.drainDelay = drainDelay
    self.drainTimeout = drainTimeout
    self.branding = branding
    self.limits = limits
    self.strictTransport = strictTransport
  }
}

/// The meaning of a client's end of sending while a safe request of it has no response yet.
public enum HalfClose: String, Sendable, CaseIterable {
  /// The client has gone away, as browsers and impatient users do: the request to the upstream is cancelled.
  case cancel
  /// The client still waits for the response.
  case serve
}

/// A scheme, host and port (RFC 6454, section 4), with the default port left out of the text.
public struct Origin: Hashable, Sendable, CustomStringConvertible {
  public enum Scheme: String, Sendable {
    case http
    case https
  }

  public let scheme: Scheme
  /// Lower case; an IPv6 literal without its brackets.
  public let host: String
  public let port: Int
  /// What the `Host` field says for this origin: the port only when it is not the scheme's default.
  public let authority: String
  public let description: String

  public init(scheme: Scheme, host: String, port: Int? = nil) {
    self.scheme = scheme
    self.host = host
    let standard = scheme == .https ? 443 : 80
    self.port = port ?? standard
    let name = host.contains(":") ? "[\(host)]" : host
    authority = self.port == standard ? name : "\(name):\(self.port)"
    description = "\(scheme.rawValue)://\(authority)"
  }

  /// Whether the host is a loopback literal or `localhost`, where plain http is acceptable. `127.example.com` is not.
  public var isLoopback: Bool {
    if host == "localhost" || host == "::1" { return true }
    let octets = host.split(separator: ".", omittingEmptySubsequences: false)
    return octets.count == 4 && octets[0] == "127" && octets.allSatisfy { UInt8($0) != nil }
  }
}

/// An address to listen on or to connect to.
public struct SocketAddress: Hashable, Sendable, CustomStringConvertible {
  /// A literal, or a name for upstreams; an IPv6 literal without its brackets.
  public let host: String
  /// 0 lets the kernel choose: for tests and the demo.
  public let port: Int

  public init(host: String, port: Int) {
    self.host = host
    self.port = port
  }

  public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

public struct Listener: Sendable {
  public let address: SocketAddress
  public let tls: ListenerTLS?
  /// Whether trusted proxies tell the peer's address with the PROXY protocol.
  public let proxyProtocol: Bool

  public init(address: SocketAddress, tls: ListenerTLS? = nil, proxyProtocol: Bool = false) {
    self.address = address
    self.tls = tls
    self.proxyProtocol = proxyProtocol
  }
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

/// A block of addresses in CIDR notation.
public struct AddressRange: Sendable {
  /// 16 bytes; an IPv4 address is mapped (`::ffff:a.b.c.d`).
  public let network: [UInt8]
  /// 0 to 128, counted in the mapped form.
  public let prefixLength: Int

  public init(network: [UInt8], prefixLength: Int) {
    self.network = network
    self.prefixLength = prefixLength
  }

  /// Whether `address`, 16 bytes in mapped form, lies in the block.
  public func contains(_ address: [UInt8]) -> Bool {
    guard address.count == 16 else { return false }
    let whole = prefixLength / 8
    guard network[..<whole] == address[..<whole] else { return false }
    let rest = prefixLength % 8
    guard rest > 0 else { return true }
    let mask = UInt8(truncatingIfNeeded: 0xff << (8 - rest))
    return network[whole] & mask == address[whole] & mask
  }
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
}
