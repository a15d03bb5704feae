public import OAuth

/// The client and network that an entry is charged to: those of the request that made it.
///
/// Networks are /24 of IPv4 and /56 of IPv6, which one customer or one site has.
public struct StoreHolder: Hashable, Sendable {
  /// A hash under a key of this process: no request can choose with which others it shares.
  let fingerprint: UInt64
  /// True if entries may be limited by their holder. Requests from this machine are not: a reverse proxy on it that is
  /// not in `trusted_proxies` would make all clients one holder.
  let isLimited: Bool

  /// - Parameters:
  ///   - client: `nil` charges the network alone.
  ///   - address: As text.
  ///   - isLoopback: Whether the request comes from this machine.
  public init(client: ClientID? = nil, address: String, isLoopback: Bool = false) {
    var hasher = Hasher()
    hasher.combine(client)
    hasher.combine(NetworkPrefix(address, ipv4: 24, ipv6: 56))
    fingerprint = UInt64(truncatingIfNeeded: hasher.finalize())
    isLimited = !isLoopback
  }
}
