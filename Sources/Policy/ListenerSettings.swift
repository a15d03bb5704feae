/// The place of a listener.
public enum ListenerAddress: Hashable, Sendable, CustomStringConvertible {
  /// An IP address and port.
  case tcp(SocketAddress)
  /// A Unix-domain socket: an absolute path, or `@` and a name in the abstract namespace of Linux (unix(7)).
  case unixSocket(path: String)

  /// The IP address and port; `nil` for a Unix-domain socket.
  public var socketAddress: SocketAddress? {
    if case .tcp(let address) = self { address } else { nil }
  }

  /// The place as in the policy, such as `127.0.0.1:8080` or `unix:/run/proofgate.sock`.
  public var description: String {
    switch self {
    case .tcp(let address): address.description
    case .unixSocket(let path): "unix:\(path)"
    }
  }
}

/// The owner, mode and peers of a listener on a Unix-domain socket.
public struct UnixSocketSettings: Equatable, Sendable {
  /// The user and the group of the file, as names or numbers; `nil` for those of the process.
  public var owner: FileOwner?
  /// The permissions of the file.
  public var mode: UInt32 = 0o660
  /// True if the peers count as programs of this machine with the address 127.0.0.1.
  public var isLocal = false

  /// Creates settings with the defaults.
  public init() {}
}

/// The owner of a file.
public struct FileOwner: Equatable, Sendable {
  /// The name or number of the user; `nil` to keep that of the process.
  public let user: String?
  /// The name or number of the group; `nil` to keep that of the process.
  public let group: String?

  /// Parses `USER`, `USER:GROUP` or `:GROUP`. Returns `nil` for any other text. Names consist of letters, digits and
  /// `_.-`, and do not begin with `-`.
  public init?(_ text: String) {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    guard let user = parts.first, parts.count < 2 || !parts[1].isEmpty, parts.contains(where: { !$0.isEmpty }),
      parts.allSatisfy(FileOwner.isName)
    else { return nil }
    self.user = user.isEmpty ? nil : user
    group = parts.count == 2 ? parts[1] : nil
  }

  private static func isName(_ text: String) -> Bool {
    !text.hasPrefix("-") && text.utf8.count <= 32
      && text.utf8.allSatisfy {
        switch $0 {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "-"):
          true
        default: false
        }
      }
  }
}

/// A place at which the gateway accepts connections from clients (an item of `gateway.listeners`).
public struct ListenerSettings: Sendable {
  /// The place to listen at.
  public var address: ListenerAddress
  /// The settings of a Unix-domain socket. They have no effect for an IP address.
  public var unixSocket = UnixSocketSettings()
  /// The TLS settings; `nil` for a listener without TLS.
  public var tls: ListenerTLS?
  /// True if only trusted proxies may connect. Each must send the client's address with the PROXY protocol.
  public var proxyProtocol: Bool

  /// Creates a listener on an IP address, by default without TLS and without the PROXY protocol.
  public init(address: SocketAddress, tls: ListenerTLS? = nil, proxyProtocol: Bool = false) {
    self.address = .tcp(address)
    self.tls = tls
    self.proxyProtocol = proxyProtocol
  }

  /// True if the peers of the listener are programs of this machine.
  public var isLocal: Bool {
    switch address {
    case .tcp(let address): Origin(scheme: .http, host: address.host).isLoopback
    case .unixSocket: unixSocket.isLocal
    }
  }

  /// The settings of an item of `listeners:`.
  public static let table = SettingTable<ListenerSettings>(
    "listener", "An address or a Unix-domain socket to listen on.",
    [
      .customReader(
        "address", .text("address, or `unix:` and a path"),
        """
        The address; with port 0 the system chooses one. `unix:/run/proofgate.sock` is a Unix-domain socket, and \
        `unix:@NAME` has an abstract name, to which every program of the network namespace may connect
        """,
        adviceIfMissing: "one such as `127.0.0.1:8080`"),
      .customReader("tls", .section("tls"), "TLS of the listener", default: "plaintext"),
      .flag(
        "proxy_protocol", \.proxyProtocol,
        """
        `true`: only `trusted_proxies` may connect, and each must send the client's address with the PROXY protocol, \
        version 1 or 2
        """
      ),
      .customReader(
        "owner", .text("`USER`, `USER:GROUP` or `:GROUP`"),
        "The owner of the file of a Unix-domain socket, as names or numbers", default: "that of the process"),
      .customReader(
        "mode", .text("three octal digits", pattern: "^0?[0-7]{3}$"),
        "The permissions of the file of a Unix-domain socket; a program needs the permission to write to connect",
        default: "\"0660\""),
      .customReader(
        "local", .flag,
        """
        For a Unix-domain socket. `true`: its peers count as programs of this machine with the address 127.0.0.1, as \
        peers on loopback do. `false`: their address is unknown, and all of them share the limits of one address, \
        unless `trusted_proxies` contains `unix`
        """,
        default: "`false`"),
    ]
  ) { ListenerSettings(address: SocketAddress(host: "", port: 0)) }
}
