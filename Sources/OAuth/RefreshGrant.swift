/// The content of a public client's sealed refresh token (RFC 6749, section 10.4: bound to its client).
public struct RefreshGrant: Sendable {
  /// The login to which this family of refresh tokens belongs, derived from its upstream code; for a family that began
  /// with a token from before the gateway, derived from that token.
  public var family: TransactionID
  /// 0 for the token that was issued with the code; each rotation adds one.
  public var generation: Int
  /// The epoch of the store at the time when the token was sealed.
  public var epoch: EpochID
  /// The client to which the token was issued.
  public var clientID: ClientID
  /// The scope that the user granted; `nil` if neither the request nor the upstream response contained one.
  public var scope: Scope?
  /// The client identifier under which the gateway uses the upstream refresh token.
  public var upstreamClientID: ClientID
  /// The refresh token that the upstream issued.
  public var upstreamRefreshToken: Secret
  /// The time at which the gateway sealed this token, in seconds since 1970.
  public var issuedAt: Int64

  /// Creates the content of a refresh token from its parts.
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
