import Enforcement
import OAuth
import Policy
import Sealing
import Stores
import Telemetry
import Time

/// The records of the access tokens that the upstream has issued through this gateway.
///
/// A record is sealed (encrypted and authenticated) and bound to its key, a digest of the token. It is not bound to the
/// epoch of the store: the upstream may issue the same token again in a later epoch, and the gateway must then still
/// know its resource.
struct AccessTokens {
  /// The maximum length of a sealed record in bytes, that of `StoreKind.access`.
  private static let maximumLength = 8_192
  /// The maximum number of attempts to change a record that other requests change at the same time.
  private static let maximumAttempts = 8

  let sealer: Sealer
  let store: any EphemeralStore
  let families: RefreshLedger
  /// The shortest time for which `families` remembers the end of a login.
  let endRetention: Seconds

  private func key(_ token: Secret) -> StoreKey { StoreKey(.access, hashing: Array(token.reveal().utf8)) }

  private func binding(_ key: StoreKey) -> SealBinding { SealBinding(data: [key.kind.rawValue] + key.bytes) }

  private func expiry(of record: AccessTokenRecord) -> UnixTime { record.end + store.clockTolerance }

  /// Returns the sealed record, without its scope if it would be too long; `nil` if it is too long also then, because
  /// its clients have long ids.
  private func seal(_ record: AccessTokenRecord, in key: StoreKey) -> [UInt8]? {
    let sealed = sealer.seal(record, in: binding(key)).storedBytes
    guard sealed.count > AccessTokens.maximumLength else { return sealed }
    var short = record
    short.scope = nil
    let shorter = sealer.seal(short, in: binding(key)).storedBytes
    return shorter.count > AccessTokens.maximumLength ? nil : shorter
  }

  private func open(_ sealed: [UInt8], in key: StoreKey) throws(StoreError) -> AccessTokenRecord {
    do {
      return try sealer.open(AccessTokenRecord.self, from: String(stored: sealed), in: binding(key))
    } catch {
      // The record was sealed with a key that is not in the ring, or was altered. Its resource is not known, so the
      // token may not be passed on for another one.
      throw .unavailable("the record of an access token cannot be opened")
    }
  }

  /// Records a token. Returns false if the client must not get the token: it belongs to another resource, or its record
  /// has no room for another client.
  ///
  /// - Parameter holder: The client and network to which the store charges the record.
  func record(
    _ token: Secret, _ record: AccessTokenRecord, holder: StoreHolder, now: UnixTime
  ) async throws(StoreError) -> Bool {
    let key = key(token)
    for _ in 0..<AccessTokens.maximumAttempts {
      guard let sealed = seal(record, in: key) else { return false }
      let existing = try await store.put(key, sealed, holder: holder, expiry: expiry(of: record), now: now)
      guard let existing else { return true }
      let old = try open(existing, in: key)
      guard let merged = try await merged(old, record, now: now) else { return false }
      if merged == old { return true }
      guard let sealed = seal(merged, in: key) else { return false }
      let isReplaced = try await store.replace(key, existing, with: sealed, expiry: expiry(of: merged), now: now)
      if isReplaced { return true }
    }
    throw .unavailable("the record of an access token keeps changing")
  }

  /// Returns the record of a token that the upstream has issued again; `nil` if the client must not get the token. If one
  /// of the token's logins has or may have ended, the token is revoked: the store may forget this end before the upstream
  /// stops accepting the token, and the record may have no room for the login any more.
  private func merged(
    _ old: AccessTokenRecord, _ new: AccessTokenRecord, now: UnixTime
  ) async throws(StoreError) -> AccessTokenRecord? {
    guard let merged = old.merged(with: new, now: now) else { return nil }
    if merged == old || old.isRevoked { return merged }
    guard try await hasEndedLogin(old, now: now) else { return merged }
    var revoked = old
    revoked.isRevoked = true
    return revoked.merged(with: new, now: now)
  }

  /// Returns the record of a token; `nil` if the gateway has none.
  func find(_ token: Secret, now: UnixTime) async throws(StoreError) -> AccessTokenRecord? {
    let key = key(token)
    guard let sealed = try await store.get(key, now: now) else { return nil }
    return try open(sealed, in: key)
  }

  /// Records that a client has revoked a token. Does nothing for a token without a record.
  func revoke(_ token: Secret, now: UnixTime) async throws(StoreError) {
    let key = key(token)
    for _ in 0..<AccessTokens.maximumAttempts {
      guard let existing = try await store.get(key, now: now) else { return }
      var record = try open(existing, in: key)
      guard !record.isRevoked else { return }
      record.isRevoked = true
      // The change does not make the record longer.
      guard let sealed = seal(record, in: key) else { break }
      let isReplaced = try await store.replace(key, existing, with: sealed, expiry: expiry(of: record), now: now)
      if isReplaced { return }
    }
    throw .unavailable("the record of an access token keeps changing")
  }

  /// A token of which the gateway has a record.
  struct FoundToken {
    /// The record. That of an active token has only the scope that the policy permits.
    let record: AccessTokenRecord
    /// `.active`, or the reason why the token is not active for the resource.
    let outcome: TokenCheckOutcome
  }

  /// Returns the record of a token, and whether the token is active for a resource; `nil` if the gateway has no record.
  ///
  /// Any client that has received the token may present it, so the token is active only if the policy permits each of
  /// them, and if none of their logins has ended.
  ///
  /// - Parameter permitted: Returns a record with the scope that the policy permits to the clients of the token; `nil` if
  ///   it does not permit them.
  func find(
    _ token: Secret, for resource: Resource, now: UnixTime, permitted: (AccessTokenRecord) -> AccessTokenRecord?
  ) async throws(StoreError) -> FoundToken? {
    guard let record = try await find(token, now: now) else { return nil }
    let inactive = { FoundToken(record: record, outcome: $0) }
    guard record.resource == resource.uri.text else { return inactive(.otherResource) }
    guard !record.isRevoked else { return inactive(.revoked) }
    guard now < record.expiry else { return inactive(.expired) }
    guard let permitted = permitted(record) else { return inactive(.clientDenied) }
    guard try await !hasEndedLogin(record, now: now) else { return inactive(.loginEnded) }
    return FoundToken(record: permitted, outcome: .active)
  }

  /// Returns true if one of the token's logins has ended, or if the store may have forgotten an end since the logins were
  /// last checked.
  private func hasEndedLogin(_ record: AccessTokenRecord, now: UnixTime) async throws(StoreError) -> Bool {
    for holder in record.holders {
      guard let family = holder.family else { continue }
      if now >= record.issuedAt + endRetention { return true }
      if try await families.hasEnded(family, now: now) { return true }
    }
    return false
  }
}

extension Gateway {
  /// The records of access tokens.
  var accessTokens: AccessTokens {
    AccessTokens(
      sealer: sealer, store: resources.store, families: resources.refreshFamilies, endRetention: policy.endRetention)
  }
}
