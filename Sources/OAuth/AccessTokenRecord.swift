public import Time

/// The gateway's record of an access token that the upstream issued. The record contains no token: the store keeps it
/// under a digest of the token.
public struct AccessTokenRecord: Sendable, Equatable {
  /// The client that received the token first.
  public var clientID: ClientID
  /// The identifier of the resource for which the token was issued; `nil` for a token without a resource.
  public var resource: String?
  /// The scope of the token; `nil` if it is not known, is too long for a record, or if clients that share the token
  /// have no scope token in common.
  public var scope: Scope?
  /// The login for which the token was issued; `nil` for a token of the client itself (RFC 6749, section 4.4).
  public var family: TransactionID?
  /// The time at which the gateway first saw the token.
  public var issuedAt: UnixTime
  /// The time at which the token expires.
  public var expiry: UnixTime
  /// The outline of the client's metadata, if its id is the URL of a metadata document: with it, the current policy
  /// decides whether the client is still permitted. `nil` for every other client.
  public var document: ClientMetadata?
  /// True if the upstream issued the same token to several clients of the resource, so that the client which presents
  /// the token is not known.
  public var isShared = false
  /// True if a client has revoked the token.
  public var isRevoked = false

  /// Creates the record of a token that the upstream has just issued.
  public init(
    clientID: ClientID, resource: String?, scope: Scope?, family: TransactionID?, issuedAt: UnixTime,
    expiry: UnixTime, document: ClientMetadata? = nil
  ) {
    self.clientID = clientID
    self.resource = resource
    self.scope = scope
    self.family = family
    self.issuedAt = issuedAt
    self.expiry = expiry
    self.document = document
  }

  /// Returns the record after the upstream has issued the same token again; `nil` if the new record names another
  /// resource. The token of an ended login stays the token of this login. A token of several clients has only the scope
  /// that each of them has requested, because any of them may present it.
  public func merged(with new: AccessTokenRecord) -> AccessTokenRecord? {
    guard new.resource == resource else { return nil }
    var merged = self
    if new.clientID != clientID { merged.isShared = true }
    if merged.isShared { merged.scope = AccessTokenRecord.intersection(scope, new.scope) }
    merged.expiry = max(expiry, new.expiry)
    return merged
  }

  /// Returns the scope tokens that both scopes have; `nil` if there are none, or if a scope is not known.
  private static func intersection(_ first: Scope?, _ second: Scope?) -> Scope? {
    guard let first, let second else { return nil }
    let tokens = second.tokens
    return Scope(parsing: first.text.split(separator: " ").filter(tokens.contains).joined(separator: " "))
  }
}
