public import OAuth

/// The key of a token bucket in a `RateLimiter`: a client, an address, a client at an address, an authorization
/// transaction at an address or in a network, or the browser or the network of a sign-in.
public struct RateKey: Hashable, Sendable {
  private let client: ClientID?
  private let transaction: TransactionID?
  private let address: NetworkPrefix?
  private let browser: UInt64?

  /// Creates a key from the given parts.
  ///
  /// - Parameter address: the IP address as text. Only the first 64 bits of an IPv6 address are used, because one
  ///   customer usually has a whole /64 prefix.
  public init(client: ClientID? = nil, transaction: TransactionID? = nil, address: String? = nil) {
    self.client = client
    self.transaction = transaction
    self.address = address.map { NetworkPrefix($0, ipv4Bits: 32, ipv6Bits: 64) }
    browser = nil
  }

  /// Creates the key of a network, the /24 of an IPv4 address or the /48 of an IPv6 address, or of a transaction in it.
  public init(transaction: TransactionID? = nil, network address: String) {
    client = nil
    self.transaction = transaction
    self.address = NetworkPrefix(address, ipv4Bits: 24, ipv6Bits: 48)
    browser = nil
  }

  /// Creates the key of the network of a sign-in; that of this machine if the origin has no network.
  public init(networkOf origin: SignInOrigin) {
    client = nil
    transaction = nil
    address = origin.network.map { NetworkPrefix(networkCode: $0) }
    browser = nil
  }

  /// Creates the key of the browser of a sign-in.
  public init(browserOf origin: SignInOrigin) {
    client = nil
    transaction = nil
    address = nil
    browser = origin.browser
  }
}
