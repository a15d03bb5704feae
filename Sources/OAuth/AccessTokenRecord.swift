public import Time

/// The gateway's record of an access token that the upstream issued. The record contains no token: the store keeps it
/// under a digest of the token.
///
/// Some servers issue the same token again, to the same client or to another one. The record then names each client that
/// has received the token, because any of them may present it.
public struct AccessTokenRecord: Sendable, Equatable {
  /// The maximum number of clients that a record names. A client with a metadata document counts once for each version of
  /// its metadata. The token is withheld from every further client.
  public static let maximumHolders = 16

  /// The client that received the token first.
  public var holder: AccessTokenHolder
  /// The other clients that have received the token.
  public private(set) var otherHolders: [AccessTokenHolder]
  /// The identifier of the resource for which the token was issued; `nil` for a token without a resource.
  public var resource: String?
  /// The scope of the token; `nil` if it is not known, is too long for a record, or if clients that share the token
  /// have no scope token in common.
  public var scope: Scope?
  /// The time at which the gateway first saw the token.
  public var issuedAt: UnixTime
  /// The time until which the token is active.
  public var expiry: UnixTime
  /// The time until which the upstream may accept the token, and until which the record is therefore kept: never before
  /// ``expiry``. In between, the token is inactive, but still belongs to its resource.
  public private(set) var end: UnixTime
  /// True if the upstream issued the same token to several clients of the resource, so that the client which presents
  /// the token is not known.
  public var isShared = false
  /// True if a client has revoked the token.
  public var isRevoked = false

  /// Creates the record of a token that the upstream has just issued.
  ///
  /// - Parameters:
  ///   - otherHolders: The further clients in a stored record.
  ///   - end: The time until which the upstream may accept the token; `nil` if it is not later than `expiry`.
  public init(
    _ holder: AccessTokenHolder, otherHolders: [AccessTokenHolder] = [], resource: String?, scope: Scope?,
    issuedAt: UnixTime, expiry: UnixTime, end: UnixTime? = nil
  ) {
    self.holder = holder
    self.otherHolders = otherHolders
    self.resource = resource
    self.scope = scope
    self.issuedAt = issuedAt
    self.expiry = expiry
    self.end = max(expiry, end ?? expiry)
  }

  /// All clients that have received the token, without repetition. Records of earlier versions name only the first one.
  public var holders: [AccessTokenHolder] { [holder] + otherHolders }

  /// Returns the record after the upstream has issued the same token again. Returns `nil` if the new record names another
  /// resource, or if the token has too many holders: the new client must then not get the token.
  ///
  /// While the token is active, the token of an ended login stays the token of this login. A token that was inactive
  /// begins a new life in the hands of its last client; the clients of its earlier lives may still have it, so they stay
  /// in the record. A token of several clients has only the scope that each of them has requested.
  public func merged(with new: AccessTokenRecord, now: UnixTime) -> AccessTokenRecord? {
    guard new.resource == resource else { return nil }
    var merged = now < expiry ? self : revived(as: new)
    if merged.holders.contains(where: { $0.hasSameClient(as: new.holder) }) {
      if now >= expiry { merged.setFamily(of: new.holder) }
    } else {
      guard otherHolders.count + 2 <= AccessTokenRecord.maximumHolders else { return nil }
      merged.otherHolders.append(new.holder)
    }
    if merged.holders.contains(where: { $0.clientID != new.holder.clientID }) { merged.isShared = true }
    if merged.isShared { merged.scope = AccessTokenRecord.intersection(scope, new.scope) }
    merged.expiry = max(expiry, new.expiry)
    merged.end = max(end, new.end)
    return merged
  }

  /// Returns the record of the expired token as that of a new one, which belongs to no earlier login.
  private func revived(as new: AccessTokenRecord) -> AccessTokenRecord {
    var revived = self
    revived.holder.family = nil
    for index in otherHolders.indices { revived.otherHolders[index].family = nil }
    revived.scope = new.scope
    revived.issuedAt = new.issuedAt
    revived.isRevoked = false
    return revived
  }

  private mutating func setFamily(of new: AccessTokenHolder) {
    if holder.hasSameClient(as: new) { holder.family = new.family }
    for index in otherHolders.indices where otherHolders[index].hasSameClient(as: new) {
      otherHolders[index].family = new.family
    }
  }

  /// Returns the scope tokens that both scopes have; `nil` if there are none, or if a scope is not known.
  private static func intersection(_ first: Scope?, _ second: Scope?) -> Scope? {
    guard let first, let second else { return nil }
    let tokens = second.tokens
    return Scope(parsing: first.text.split(separator: " ").filter(tokens.contains).joined(separator: " "))
  }
}
