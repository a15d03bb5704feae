public import OAuth

/// Whom a bucket belongs to: a client, a flow or an address, or a client at an address.
public struct RateKey: Hashable, Sendable {
  private let client: ClientID?
  private let transaction: TransactionID?
  private let address: NetworkPrefix?

  /// - Parameter address: as text; of an IPv6 address the first 64 bits count, for that is what one customer gets.
  public init(client: ClientID? = nil, transaction: TransactionID? = nil, address: String? = nil) {
    self.client = client
    self.transaction = transaction
    self.address = address.map { NetworkPrefix($0, ipv4: 32, ipv6: 64) }
  }
}
