import CLinux

/// An IP address and port, or the end of a connection on a Unix socket, which has no address.
@safe public struct Address: Hashable, Sendable, CustomStringConvertible {
  /// The address in the form that CLinux uses.
  let system: cl_address

  init(_ system: cl_address) {
    self.system = system
  }

  /// Creates an address from 4 or 16 bytes; `nil` for any other number of bytes or a port outside 0 to 65535.
  ///
  /// - Parameter bytes: in network byte order: 4 bytes for IPv4, 16 for IPv6.
  public init?(bytes: [UInt8], port: Int) {
    guard let port = UInt16(exactly: port), bytes.count == 4 || bytes.count == 16 else { return nil }
    var made = cl_address()
    unsafe withUnsafeMutableBytes(of: &made.bytes) { unsafe $0.copyBytes(from: bytes) }
    made.family = bytes.count == 4 ? 4 : 6
    made.port = port
    system = made
  }

  /// Parses an IPv4 or IPv6 literal, the latter without brackets and scope; `nil` if `host` is any other text, such as
  /// a name, or `port` is outside 0 to 65535.
  public init?(literal host: String, port: Int) {
    guard let port = UInt16(exactly: port) else { return nil }
    var parsed = cl_address()
    guard unsafe cl_parse_address(host, &parsed) == 0 else { return nil }
    parsed.port = port
    system = parsed
  }

  /// The end of a connection on a Unix socket.
  public static let unixSocket: Address = {
    var made = cl_address()
    made.family = 1
    return Address(made)
  }()

  /// The address 127.0.0.1 without a port.
  public static let loopback: Address = {
    var made = cl_address()
    made.family = 4
    unsafe withUnsafeMutableBytes(of: &made.bytes) { unsafe $0.copyBytes(from: [127, 0, 0, 1] as [UInt8]) }
    return Address(made)
  }()

  /// True for the end of a connection on a Unix socket.
  public var isUnixSocket: Bool { system.family == 1 }

  /// True if both addresses are equal except for the port.
  public func isSameHost(as other: Address) -> Bool { with(port: 0) == other.with(port: 0) }

  /// The TCP port, 0 to 65535.
  public var port: Int { Int(system.port) }
  /// True for IPv6, false for IPv4.
  public var isIPv6: Bool { system.family == 6 }

  /// The address as 16 bytes in network byte order; an IPv4 address in mapped form (`::ffff:a.b.c.d`). All are zero for
  /// the end of a connection on a Unix socket: no peer has the address `::`.
  public var mappedBytes: [UInt8] {
    if isUnixSocket { return Array(repeating: 0, count: 16) }
    return unsafe withUnsafeBytes(of: system.bytes) { bytes in
      isIPv6 ? unsafe Array(bytes) : unsafe [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff] + bytes[..<4]
    }
  }

  /// True for `::1` and 127.0.0.0/8.
  public var isLoopback: Bool {
    let bytes = mappedBytes
    return isIPv6 ? bytes == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1] : bytes[12] == 127
  }

  /// The address as text without the port; IPv6 without brackets. `unknown` for the end of a connection on a Unix socket
  /// (RFC 7239, section 6.2).
  public var host: String {
    if isUnixSocket { return "unknown" }
    return unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { text in
      guard let base = text.baseAddress else { return "" }
      var copy = system
      unsafe cl_format_address(&copy, base, 64)
      return unsafe String(cString: base)
    }
  }

  /// `host:port`, with brackets around an IPv6 address; `unix` for the end of a connection on a Unix socket.
  public var description: String { isUnixSocket ? "unix" : isIPv6 ? "[\(host)]:\(port)" : "\(host):\(port)" }

  /// Returns the same address with another port.
  func with(port: Int) -> Address {
    var copy = system
    copy.port = UInt16(truncatingIfNeeded: port)
    return Address(copy)
  }

  /// Compares family, port and address bytes, not the IPv6 scope.
  public static func == (a: Address, b: Address) -> Bool {
    a.system.family == b.system.family && a.system.port == b.system.port && a.mappedBytes == b.mappedBytes
  }

  /// Hashes the port and the mapped bytes.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(system.port)
    hasher.combine(mappedBytes)
  }
}
