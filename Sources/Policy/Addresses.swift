/// A scheme, host and port (RFC 6454, section 4).
public struct Origin: Hashable, Sendable, CustomStringConvertible {
  /// The permitted URI schemes.
  public enum Scheme: String, Sendable {
    case http
    case https
  }

  /// The scheme. It determines the default port, and whether connections use TLS.
  public let scheme: Scheme
  /// The host name or address literal, in lower case. An IPv6 literal has no brackets.
  public let host: String
  /// The TCP port, from 1 to 65535. The default is 80 for http and 443 for https.
  public let port: Int
  /// The value of the `Host` field for this origin: the host, and the port if it is not the default of the scheme.
  public let authority: String
  /// The scheme and the authority, such as `https://id.example.com`.
  public let description: String

  /// Creates an origin. Without `port`, it has the default port of the scheme.
  public init(scheme: Scheme, host: String, port: Int? = nil) {
    self.scheme = scheme
    self.host = host
    let defaultPort = scheme == .https ? 443 : 80
    self.port = port ?? defaultPort
    let name = host.contains(":") ? "[\(host)]" : host
    authority = self.port == defaultPort ? name : "\(name):\(self.port)"
    description = "\(scheme.rawValue)://\(authority)"
  }

  /// True if the host is a loopback literal or `localhost`, so that http without TLS is acceptable. False for a name
  /// such as `127.example.com`.
  public var isLoopback: Bool {
    if host == "localhost" || host == "::1" { return true }
    let octets = host.split(separator: ".", omittingEmptySubsequences: false)
    return octets.count == 4 && octets[0] == "127" && octets.allSatisfy { UInt8($0) != nil }
  }
}

/// An address to listen on or to connect to.
public struct SocketAddress: Hashable, Sendable, CustomStringConvertible {
  /// An address literal or, for an address to connect to, a host name. An IPv6 literal has no brackets.
  public let host: String
  /// The TCP port, up to 65535. With 0, the kernel chooses a free port; this is for tests and the demo.
  public let port: Int

  /// Creates an address. An IPv6 `host` has no brackets.
  public init(host: String, port: Int) {
    self.host = host
    self.port = port
  }

  /// The host and the port, such as `127.0.0.1:8080` or `[::1]:8080`.
  public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

/// A block of addresses in CIDR notation.
public struct AddressRange: Sendable {
  /// The first address of the block, 16 bytes. An IPv4 address is mapped to IPv6 (`::ffff:a.b.c.d`).
  public let network: [UInt8]
  /// The number of leading bits that all addresses of the block have in common, from 0 to 128. For an IPv4 block, this
  /// is the number in the mapped form, so it is 96 higher than in CIDR notation.
  public let prefixLength: Int

  /// Creates a block from a network of 16 bytes and a prefix length of 0 to 128, both in mapped form.
  public init(network: [UInt8], prefixLength: Int) {
    self.network = network
    self.prefixLength = prefixLength
  }

  /// The peers on Unix-domain sockets, whose address is unknown. Their 16 bytes are all zero, an address that no other
  /// peer has.
  public static let unixSockets = AddressRange(network: Array(repeating: 0, count: 16), prefixLength: 128)

  /// Returns true if `address`, 16 bytes in mapped form, is in the block.
  public func contains(_ address: [UInt8]) -> Bool {
    guard address.count == 16 else { return false }
    let wholeBytes = prefixLength / 8
    guard network[..<wholeBytes] == address[..<wholeBytes] else { return false }
    let remainingBits = prefixLength % 8
    guard remainingBits > 0 else { return true }
    let mask = UInt8(truncatingIfNeeded: 0xff << (8 - remainingBits))
    return network[wholeBytes] & mask == address[wholeBytes] & mask
  }
}
