import CLinux

/// An IP address and port.
@safe public struct Address: Hashable, Sendable, CustomStringConvertible {
  let system: cl_address

  init(_ system: cl_address) {
    self.system = system
  }

  /// - Parameter bytes: in network order; 4 of an IPv4 address, 16 of an IPv6 address.
  public init?(bytes: [UInt8], port: Int) {
    guard let port = UInt16(exactly: port), bytes.count == 4 || bytes.count == 16 else { return nil }
    var made = cl_address()
    unsafe withUnsafeMutableBytes(of: &made.bytes) { unsafe $0.copyBytes(from: bytes) }
    made.family = bytes.count == 4 ? 4 : 6
    made.port = port
    system = made
  }

  /// Parses a literal; `nil` when `host` is a name.
  public init?(literal host: String, port: Int) {
    guard let port = UInt16(exactly: port) else { return nil }
    var parsed = cl_address()
    guard unsafe cl_parse_address(host, &parsed) == 0 else { return nil }
    parsed.port = port
    system = parsed
  }

  /// True if the other differs in nothing but the port.
  public func isSameHost(as other: Address) -> Bool { with(port: 0) == other.with(port: 0) }

  public var port: Int { Int(system.port) }
  public var isIPv6: Bool { system.family == 6 }

  /// 16 bytes; an IPv4 address in mapped form (`::ffff:a.b.c.d`).
  public var mappedBytes: [UInt8] {
    unsafe withUnsafeBytes(of: system.bytes) { bytes in
      isIPv6 ? unsafe Array(bytes) : unsafe [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff] + bytes[..<4]
    }
  }

  public var isLoopback: Bool {
    let bytes = mappedBytes
    return isIPv6 ? bytes == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1] : bytes[12] == 127
  }

  /// The address without the port, IPv6 without brackets.
  public var host: String {
    unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { text in
      guard let base = text.baseAddress else { return "" }
      var copy = system
      unsafe cl_format_address(&copy, base, 64)
      return unsafe String(cString: base)
    }
  }

  public var description: String { isIPv6 ? "[\(host)]:\(port)" : "\(host):\(port)" }

  func with(port: Int) -> Address {
    var copy = system
    copy.port = UInt16(truncatingIfNeeded: port)
    return Address(copy)
  }

  public static func == (a: Address, b: Address) -> Bool {
    a.system.family == b.system.family && a.system.port == b.system.port && a.mappedBytes == b.mappedBytes
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(system.port)
    hasher.combine(mappedBytes)
  }
}
