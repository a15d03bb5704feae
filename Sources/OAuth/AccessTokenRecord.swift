public import Time

/// The gateway's record of an access token that the upstream issued. The record contains no token: the store keeps it
/// under a digest of the token.
///
/// Some servers issue the same token again, for another login of the same client or to another client. The record then
/// names each client that has received the token, because any of them may present it, with each of its logins.
public struct AccessTokenRecord: Sendable, Equatable {
  /// The maximum number of clients that a record names. A client with a metadata document counts once for each version of
  /// its metadata. The token is withheld from every further client.
  public static let maximumClients = 16
  /// The maximum number of logins of one client that a record names. A further login takes the place of the oldest one,
  /// whose end then no longer ends the token.
  public static let maximumLogins = 8
  /// The maximum number of pairs of a client and a login.
  public static let maximumHolders = 32

  /// The client that received the token first, with the oldest login in the record.
  public var holder: AccessTokenHolder
  /// The other clients that have received the token, and other logins of each client. Those of one client follow each
  /// other, the oldest first.
  public private(set) var otherHolders: [AccessTokenHolder]
  /// The identifier of the resource for which the token was issued; `nil` for a token without a resource.
  public var resource: String?
  /// The scope of the token; `nil` if it is not known, is too long for a record, or if clients that share the token
  /// have no scope token in common.
  public var scope: Scope?
  /// The time of the last issue of the token that changed the record. No login of the token had ended then.
  public var issuedAt: UnixTime
  /// The time until which the token is active.
  public var expiry: UnixTime
  /// The time until which the upstream may accept the token, and until which the record is therefore kept: never before
  /// ``expiry``. In between, the token is inactive, but still belongs to its resource.
  public private(set) var end: UnixTime
  /// True if the upstream issued the same token to several clients of the resource, so that the client which presents
  /// the token is not known.
  public var isShared = false
  /// True if a client has revoked the token, or if it was issued again after one of its logins had ended.
  public var isRevoked = false

  /// Creates the record of a token that the upstream has just issued.
  ///
  /// - Parameters:
  ///   - otherHolders: The further clients and logins in a stored record.
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

  /// All pairs of a client and a login that have received the token, without repetition.
  public var holders: [AccessTokenHolder] { [holder] + otherHolders }

  /// Returns the record after the upstream has issued the same token again. Returns `nil` if the new record names another
  /// resource, or if the token has too many clients: the new client must then not get the token.
  ///
  /// The token belongs to each login for which it was issued, also before it was last inactive, because their clients may
  /// still have it. A revoked token stays inactive until the end of its record, which does not move then. A token of several
  /// clients has only the scope that each of them has requested.
  public func merged(with new: AccessTokenRecord, now: UnixTime) -> AccessTokenRecord? {
    guard new.resource == resource else { return nil }
    var merged = self
    if now >= expiry { merged.scope = new.scope }
    guard let holders = AccessTokenRecord.adding(new.holder, to: merged.holders) else { return nil }
    merged.holder = holders[0]
    merged.otherHolders = Array(holders.dropFirst())
    if merged.holders.contains(where: { $0.clientID != new.holder.clientID }) { merged.isShared = true }
    if merged.isShared { merged.scope = AccessTokenRecord.intersection(scope, new.scope) }
    if !isRevoked {
      merged.expiry = max(expiry, new.expiry)
      merged.end = max(end, new.end)
    }
    if merged != self { merged.issuedAt = max(issuedAt, new.issuedAt) }
    return merged
  }

  /// Returns the holders with a further one behind those of its client; `nil` if it is one client too many.
  private static func adding(_ new: AccessTokenHolder, to holders: [AccessTokenHolder]) -> [AccessTokenHolder]? {
    var holders = holders
    let own = holders.indices.filter { holders[$0].hasSameClient(as: new) }
    guard let first = own.first, let last = own.last else {
      let clients = holders.indices.filter { $0 == 0 || !holders[$0].hasSameClient(as: holders[$0 - 1]) }.count
      guard clients < maximumClients else { return nil }
      return shortened(holders + [new])
    }
    if own.contains(where: { holders[$0].family == new.family }) { return holders }
    if holders[first].family == nil {
      // So far, the client has the token without a login that could end.
      holders[first].family = new.family
      return holders
    }
    guard new.family != nil else { return holders }
    holders.insert(new, at: last + 1)
    if own.count == maximumLogins { holders.remove(at: first) }
    return shortened(holders)
  }

  /// Returns the holders without the oldest login of the first client with several logins, if there are too many holders.
  private static func shortened(_ holders: [AccessTokenHolder]) -> [AccessTokenHolder] {
    guard holders.count > maximumHolders else { return holders }
    var holders = holders
    let excess = holders.indices.dropLast().first { holders[$0].hasSameClient(as: holders[$0 + 1]) }
    if let excess { holders.remove(at: excess) }
    return holders
  }

  /// Returns the scope tokens that both scopes have; `nil` if there are none, or if a scope is not known.
  private static func intersection(_ first: Scope?, _ second: Scope?) -> Scope? {
    guard let first, let second else { return nil }
    let tokens = second.tokens
    return Scope(parsing: first.text.split(separator: " ").filter(tokens.contains).joined(separator: " "))
  }
}
