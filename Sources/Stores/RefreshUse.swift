internal import Cryptography
public import OAuth
public import Time

/// A refresh token that a client presents, with the facts on which `RefreshLedger` decides.
public struct RefreshUse: Sendable {
  /// The family of the token.
  public let family: TransactionID
  /// The number of refreshes that led to the token; 0 for the first token of a family.
  public let generation: Int
  /// The epoch of the store in which the token was sealed.
  public let epoch: EpochID
  /// The token as the client sent it.
  public let token: Secret
  /// The client and network that a new record is charged to.
  public let holder: StoreHolder
  /// The network of the request.
  let network: NetworkPrefix
  /// The longest time for which a token of the family is valid without use.
  public var idleLifetime: Seconds = 0
  /// The shortest time for which the end of the family is remembered, because of its access tokens.
  public var accessLifetime: Seconds = 0
  /// The time after the first use in which a repeat of the request gets the same response (`refresh_reuse_window`).
  public var reuseWindow: Seconds = 0
  /// True if a repeat may come from any network (`refresh_reuse_networks: any`).
  public var acceptsAnyNetwork = false
  /// The time at which the request arrived, before it waited for other requests with the same token. This time decides
  /// if the request is a repeat; `nil` to use the time of the call.
  public var arrival: UnixTime?
  /// The time until which tokens that the upstream issued before the gateway was installed are accepted.
  public var adoptedUntil: UnixTime = 0
  /// True if the upstream issued the token before the gateway was installed.
  public let isAdopted: Bool

  /// The network of the request, as text.
  public var networkText: String { NetworkPrefix.text(ofCode: network.code) }

  /// Creates a use of a token.
  ///
  /// - Parameters:
  ///   - grant: the content of the token.
  ///   - token: the token as the client sent it.
  ///   - address: the IP address of the request.
  ///   - isLoopback: true if the request comes from this machine.
  ///   - isListed: false if the policy does not list the client, whose entries are then charged to its network alone.
  ///   - isAdopted: true if the upstream issued the token before the gateway was installed. Such a token contains no
  ///     grant, so the caller has created `grant` for it.
  public init(
    _ grant: RefreshGrant, token: Secret, address: String, isLoopback: Bool, isListed: Bool = true,
    isAdopted: Bool = false
  ) {
    family = grant.family
    generation = grant.generation
    epoch = grant.epoch
    self.token = token
    self.isAdopted = isAdopted
    holder = StoreHolder(
      client: isListed ? grant.clientID : nil, address: address, isLoopback: isLoopback, isUnlisted: !isListed)
    network = NetworkPrefix(address, ipv4Bits: 24, ipv6Bits: 48)
  }

  /// Returns the family of a token that the upstream issued before the gateway was installed. Its id is derived from
  /// the client id and the token, so each of these tokens is the first token of a family of its own.
  public static func adoptedFamily(of token: Secret, client: ClientID) -> TransactionID {
    var text = Array("proofgate adopted refresh token".utf8) + sha256(Array(client.rawValue.utf8))
    text += Array(token.reveal().utf8)
    defer { wipe(&text) }
    guard let family = TransactionID(bytes: Array(sha256(text).prefix(TransactionID.byteCount))) else {
      preconditionFailure("a digest has more than 16 bytes")
    }
    return family
  }
}
