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

  /// True if the host is a loopback literal or `localhost`, where plain http is acceptable. `127.example.com` is not.
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

  /// True if `address`, 16 bytes in mapped form, lies in the block.
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
