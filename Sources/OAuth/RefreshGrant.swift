/// What a public client's sealed refresh token carries (RFC 6749, section 10.4: bound to its client).
public struct RefreshGrant: Sendable {
  /// The transaction whose code began this family of refresh tokens.
  public var family: TransactionID
  /// 0 for the token that came with the code; one more with every rotation.
  public var generation: Int
  /// The epoch of the store in which the token was sealed.
  public var epoch: EpochID
  public var clientID: ClientID
  /// What the user granted; `nil` when neither request nor answer said.
  public var scope: Scope?
  public var upstreamClientID: ClientID
  public var upstreamRefreshToken: Secret
  /// Seconds since 1970.
  public var issuedAt: Int64

  public init(
    family: TransactionID, generation: Int, epoch: EpochID, clientID: ClientID, scope: Scope?,
    upstreamClientID: ClientID,
    upstreamRefreshToken: Secret, issuedAt: Int64
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
