public import Time

/// The content of a sealed refresh token (RFC 6749, section 10.4: a refresh token is bound to its client). The gateway
/// seals the refresh tokens of public clients, and of clients whose upstream credentials it holds.
@dynamicMemberLookup
public struct RefreshGrant: Sendable {
  /// The identifier of the family to which this refresh token belongs: all refresh tokens of one login. It is derived
  /// from the transaction and the upstream code of the login. If the family began with a refresh token that the
  /// upstream issued before the gateway was installed, the identifier is derived from that token.
  public var family: TransactionID
  /// The number of refreshes since the first token of the family, which has the number 0.
  public var generation: Int
  /// The epoch of the store when the token was sealed.
  public var epoch: EpochID
  /// The client to which the token was issued, the scope, and the client id with which the gateway uses the upstream
  /// refresh token. The members of the binding are also members of the grant.
  public var binding: ClientBinding
  /// The refresh token that the upstream issued.
  public var upstreamRefreshToken: Secret
  /// The time at which the gateway sealed this token.
  public var issuedAt: UnixTime
  /// The longest time without use (`refresh_idle`) with which the gateway has issued a token of the family. A policy that
  /// permits more applies to later tokens only, because the store forgets a use or an end after this time. A token of an
  /// earlier version has the default.
  public var idleLifetime = defaultIdleLifetime

  /// The `refresh_idle` of a policy that does not set it: 90 days.
  public static let defaultIdleLifetime: Seconds = 90 * 86_400

  /// Creates the content of a refresh token from its parts.
  public init(
    family: TransactionID, generation: Int, epoch: EpochID, binding: ClientBinding, upstreamRefreshToken: Secret,
    issuedAt: UnixTime
  ) {
    self.family = family
    self.generation = generation
    self.epoch = epoch
    self.binding = binding
    self.upstreamRefreshToken = upstreamRefreshToken
    self.issuedAt = issuedAt
  }

  /// A member of ``binding``.
  @inlinable
  public subscript<Value>(dynamicMember value: WritableKeyPath<ClientBinding, Value>) -> Value {
    get { binding[keyPath: value] }
    set { binding[keyPath: value] = newValue }
  }
}
