public import Reactor

/// The addresses to which the gateway may connect for a URL that any program can send. All other addresses could belong
/// to a service of the gateway's own network, which trusts connections from there.
extension Address {
  /// True if the address is globally reachable unicast (IANA's registries of special-purpose addresses). Unknown and
  /// reserved blocks, and all forms of IPv6 that contain an IPv4 address, count as not reachable.
  public var isGloballyReachable: Bool {
    let bytes = mappedBytes
    return isIPv6 ? Address.isReachableIPv6(bytes) : Address.isReachableIPv4(Array(bytes[12...]))
  }

  private static func isReachableIPv4(_ bytes: [UInt8]) -> Bool {
    switch (bytes[0], bytes[1], bytes[2]) {
    // "This network", private use, loopback, multicast, reserved and broadcast.
    case (0, _, _), (10, _, _), (127, _, _), (224..., _, _): false
    // Shared by the customers of a provider (RFC 6598).
    case (100, 64...127, _): false
    // Link-local, where clouds have their metadata services.
    case (169, 254, _): false
    case (172, 16...31, _), (192, 168, _): false
    // 168.63.129.16, where Azure has services of the machine itself. The block is public, but this address is not.
    case (168, 63, 129): bytes[3] != 16
    // Protocol assignments, three blocks for documentation, relays of 6to4, and benchmarks.
    case (192, 0, 0), (192, 0, 2), (198, 51, 100), (203, 0, 113), (192, 88, 99), (198, 18...19, _): false
    default: true
    }
  }

  private static func isReachableIPv6(_ bytes: [UInt8]) -> Bool {
    // Only 2000::/3 is assigned to global unicast (RFC 4291, section 2.4). Outside of it are the unspecified address,
    // loopback, mapped IPv4 addresses, 64:ff9b::/96 (NAT64), unique local, link-local and multicast addresses.
    guard bytes[0] & 0xe0 == 0x20 else { return false }
    // ISATAP (RFC 5214, section 6.1): the last four bytes are an IPv4 address, whatever the prefix is. The two lowest bits
    // of the first byte say whether that address is unique, and whether it is a group.
    if bytes[8] & 0xfc == 0, bytes[9] == 0, bytes[10] == 0x5e, bytes[11] == 0xfe { return false }
    switch (bytes[0], bytes[1], bytes[2], bytes[3]) {
    // 2001::/23: protocol assignments, with Teredo (2001::/32).
    case (0x20, 0x01, 0x00...0x01, _): return false
    // Documentation: 2001:db8::/32 and 3fff::/20.
    case (0x20, 0x01, 0x0d, 0xb8), (0x3f, 0xff, 0x00...0x0f, _): return false
    // 2002::/16: 6to4, which contains an IPv4 address.
    case (0x20, 0x02, _, _): return false
    default: return true
    }
  }
}
