/// The browser in which a sign-in ended, and its network, as numbers. Failed redemptions of the code count for both.
public struct SignInOrigin: Sendable, Equatable {
  /// The first 8 bytes of the digest of the secret in the browser's cookie.
  public var browser: UInt64
  /// The code of the network; `nil` if the request came from this machine.
  public var network: UInt64?

  /// Creates an origin.
  ///
  /// - Parameters:
  ///   - browserSecretHash: The SHA-256 digest of the secret in the browser's cookie.
  ///   - network: The code of the network. 0, the network of no client, is read as `nil`.
  public init(browserSecretHash: [UInt8], network: UInt64?) {
    self.init(
      browser: browserSecretHash.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }, network: network)
  }

  /// Creates an origin from its numbers.
  public init(browser: UInt64, network: UInt64?) {
    self.browser = browser
    self.network = network == 0 ? nil : network
  }
}
