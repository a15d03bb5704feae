package import Cryptography
public import OAuth

/// The client and network that an entry of a store is charged to: those of the request that created the entry.
///
/// A store charges each entry to its holder, i.e. counts the entry against the limit of this holder
/// (`StoreKind.Properties.holderDivisor`), so that no holder can fill the share of a kind alone. Networks are IPv4 /24
/// and IPv6 /56, the usual sizes for one customer or one site.
public struct StoreHolder: Hashable, Sendable {
  private let client: ClientID?
  private let network: NetworkPrefix
  /// A hash with a key of this process, whose lowest bit says whether the client is unlisted. An attacker who knew the
  /// key could choose a client and network with the same hash as another holder, and use up the limit of that holder.
  package let fingerprint: UInt64
  /// True if the holder is limited. Requests from this machine are not limited: a reverse proxy on this machine that is
  /// not in `trusted_proxies` would make all clients one holder.
  package let isLimited: Bool
  /// True for a client that the policy does not list. All of these clients together may use at most half of a share that
  /// is never evicted, because their ids and networks cost little. So listed clients always have the other half.
  package var isUnlisted: Bool { StoreHolder.isUnlisted(fingerprint) }

  /// Returns true if `fingerprint` belongs to a client that the policy does not list.
  package static func isUnlisted(_ fingerprint: UInt64) -> Bool { fingerprint & 1 == 1 }

  /// Creates a holder.
  ///
  /// - Parameters:
  ///   - client: the client; `nil` charges the network alone.
  ///   - address: the IP address of the request, as text.
  ///   - isLoopback: true if the request comes from this machine.
  ///   - isUnlisted: true if the policy does not list the client of the request.
  public init(client: ClientID? = nil, address: String, isLoopback: Bool = false, isUnlisted: Bool = false) {
    self.client = client
    network = NetworkPrefix(address, ipv4Bits: 24, ipv6Bits: 56)
    var hasher = Hasher()
    hasher.combine(client)
    hasher.combine(network)
    fingerprint = UInt64(truncatingIfNeeded: hasher.finalize()) & ~1 | (isUnlisted ? 1 : 0)
    isLimited = !isLoopback
  }

  /// Returns a fingerprint like `fingerprint` that another process with the same key computes as well, for a store that
  /// outlives the process. Never 0 or 1.
  package func fingerprint(_ key: HMACSHA256) -> UInt64 {
    var message: [UInt8] = []
    for shift in stride(from: 0 as UInt64, to: 64, by: 8) {
      message.append(UInt8(truncatingIfNeeded: network.code >> shift))
    }
    // No client id is empty, so this differs from the message for `nil`.
    if let client { message += Array(client.rawValue.utf8) }
    let digest = key.authenticate(message).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    return max(digest & ~1, 2) | (isUnlisted ? 1 : 0)
  }
}
