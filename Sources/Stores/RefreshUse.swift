internal import Cryptography
public import OAuth

/// A refresh token that a client presents, with all that its family is judged by.
public struct RefreshUse: Sendable {
  public let family: TransactionID
  public let generation: Int
  /// The epoch of the store in which the token was sealed.
  public let epoch: EpochID
  /// The token as the client sent it.
  public let token: Secret
  /// The client and network that a new record is charged to.
  public let holder: StoreHolder
  /// The network that the request comes from.
  let network: NetworkPrefix
  /// Seconds for which the token is good without use.
  public var idle: Int64 = 0
  /// Seconds in which a repeat of the request gets the same answer.
  public var window: Int64 = 0
  /// True if a repeat may come from any network (`refresh_reuse_networks: any`).
  public var takesAnyNetwork = false
  /// Seconds since 1970 until which tokens from before the gateway are taken.
  public var adoptedUntil: Int64 = 0
  /// True if the token is from before the gateway.
  public let isAdopted: Bool

  /// The network of the request, as text.
  public var networkText: String { NetworkPrefix.text(ofCode: network.code) }

  /// - Parameters:
  ///   - token: The token as the client sent it.
  ///   - address: The address that the request comes from.
  ///   - isLoopback: Whether that is this machine.
  ///   - isAdopted: Whether the token is from before the gateway, and `grant` made for it.
  public init(
    _ grant: RefreshGrant, token: Secret, address: String, isLoopback: Bool, isAdopted: Bool = false
  ) {
    family = grant.family
    generation = grant.generation
    epoch = grant.epoch
    self.token = token
    self.isAdopted = isAdopted
    holder = StoreHolder(client: grant.clientID, address: address, isLoopback: isLoopback)
    network = NetworkPrefix(address, ipv4: 24, ipv6: 48)
  }

  /// The family that a token from before the gateway founds. The token's digest names it, so that one token founds one
  /// family and is its first token ever after.
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
