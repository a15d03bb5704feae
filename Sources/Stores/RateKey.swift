public import OAuth

/// The owner of a token bucket: a client, a flow, an address, or a client at an address.
public struct RateKey: Hashable, Sendable {
  private let client: ClientID?
  private let transaction: TransactionID?
  private let address: NetworkPrefix?

  /// Creates a key from the given parts.
  ///
  /// - Parameter address: the address as text. Of an IPv6 address only the first 64 bits count, because one customer
  ///   gets all addresses of a /64.
  public init(client: ClientID? = nil, transaction: TransactionID? = nil, address: String? = nil) {
    self.client = client
    self.transaction = transaction
    self.address = address.map { NetworkPrefix($0, ipv4: 32, ipv6: 64) }
  }
}
