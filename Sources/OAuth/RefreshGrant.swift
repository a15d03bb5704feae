public import Time

/// The content of a sealed refresh token (RFC 6749, section 10.4: a refresh token is bound to its client). The gateway
/// seals the refresh tokens of public clients, and of clients whose upstream credentials it holds.
public struct RefreshGrant: Sendable {
  /// The login to which this refresh token belongs. All refresh tokens of a login form a family. The identifier is
  /// derived from the upstream code; if the family began with a refresh token from before the gateway was installed, it
  /// is derived from that token.
  public var family: TransactionID
  /// The number of refreshes since the first token of the family, which has the number 0.
  public var generation: Int
  /// The epoch of the store when the token was sealed.
  public var epoch: EpochID
  /// The client to which the token was issued.
  public var clientID: ClientID
  /// The scope that the user granted; `nil` if neither the authorization request nor the upstream's response contained
  /// one.
  public var scope: Scope?
  /// The client id with which the gateway uses the upstream refresh token.
  public var upstreamClientID: ClientID
  /// The refresh token that the upstream issued.
  public var upstreamRefreshToken: Secret
  /// The time at which the gateway sealed this token.
  public var issuedAt: UnixTime

  /// Creates the content of a refresh token from its parts.
  public init(
    family: TransactionID, generation: Int, epoch: EpochID, clientID: ClientID, scope: Scope?,
    upstreamClientID: ClientID,
    upstreamRefreshToken: Secret, issuedAt: UnixTime
  ) {
    self.family = family
    self.generation = generation
    self.epoch = epoch
    self.clientID = clientID
    self.scope = scope
    self.upstreamClientID = upstreamClientID
    self.upstreamRefreshToken = upstreamRefreshToken
    self.issuedAt = issuedAt
  }
}
