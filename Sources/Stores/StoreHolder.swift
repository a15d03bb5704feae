public import OAuth

/// The client and network that an entry of a store is charged to: those of the request that created the entry.
///
/// A store charges each entry to its holder, i.e. counts the entry against the limit of this holder
/// (`StoreKind.Properties.holderDivisor`), so that no holder can fill the share of a kind alone. Networks are IPv4 /24
/// and IPv6 /56, the usual sizes for one customer or one site.
public struct StoreHolder: Hashable, Sendable {
  /// A hash with a key of this process. An attacker who knew the key could choose a client and network with the same
  /// hash as another holder, and use up the limit of that holder.
  package let fingerprint: UInt64
  /// True if the holder is limited. Requests from this machine are not limited: a reverse proxy on this machine that is
  /// not in `trusted_proxies` would make all clients one holder.
  package let isLimited: Bool

  /// Creates a holder.
  ///
  /// - Parameters:
  ///   - client: the client; `nil` charges the network alone.
  ///   - address: the IP address of the request, as text.
  ///   - isLoopback: true if the request comes from this machine.
  public init(client: ClientID? = nil, address: String, isLoopback: Bool = false) {
    var hasher = Hasher()
    hasher.combine(client)
    hasher.combine(NetworkPrefix(address, ipv4Bits: 24, ipv6Bits: 56))
    fingerprint = UInt64(truncatingIfNeeded: hasher.finalize())
    isLimited = !isLoopback
  }
}
