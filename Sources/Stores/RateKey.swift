public import OAuth

/// The key of a token bucket in a `RateLimiter`: a client, an address, a client at an address, an authorization
/// transaction at an address, or a holder of store entries.
public struct RateKey: Hashable, Sendable {
  private let client: ClientID?
  private let transaction: TransactionID?
  private let address: NetworkPrefix?
  private let holder: UInt64?

  /// Creates a key from the given parts.
  ///
  /// - Parameter address: the IP address as text. Only the first 64 bits of an IPv6 address are used, because one
  ///   customer usually has a whole /64 prefix.
  public init(client: ClientID? = nil, transaction: TransactionID? = nil, address: String? = nil) {
    self.client = client
    self.transaction = transaction
    self.address = address.map { NetworkPrefix($0, ipv4Bits: 32, ipv6Bits: 64) }
    holder = nil
  }

  /// Creates the key of a network: an IPv4 /24 or an IPv6 /48.
  public init(networkOf address: String) {
    client = nil
    transaction = nil
    self.address = NetworkPrefix(address, ipv4Bits: 24, ipv6Bits: 48)
    holder = nil
  }

  /// Creates the key of a holder of store entries.
  init(holder: StoreHolder) {
    client = nil
    transaction = nil
    address = nil
    self.holder = holder.fingerprint
  }
}
