public import OAuth
public import Time

extension RefreshLedger {
  /// Returns the duty of the caller if the family of the token has ended; otherwise `nil`. Call it for a token that may
  /// be used more than once. The use of such a token is not claimed, so `claim` cannot report the end of its family.
  public func dutyIfEnded(_ use: RefreshUse, now: UnixTime) async throws(StoreError) -> EndedFamilyDuty? {
    let key = RefreshLedger.key(use.family)
    for _ in 0..<RefreshLedger.maximumAttempts {
      let epoch = store.epoch
      if familyMayHaveEnded(use, before: epoch), try await restoreEnds(in: epoch, now: now) { continue }
      guard let old = try await store.get(key, now: now) else {
        guard store.epoch == epoch else { continue }
        return nil
      }
      guard var record = FamilyRecord(parsing: old) else { return .nothingToRevoke }
      guard record.state == .ended else { return nil }
      remember(record, of: use, in: epoch, now: now)
      guard UInt32(clamping: use.generation) >= record.generation else { return .nothingToRevoke }
      if try await markRevoked(use, &record, old, now: now) { return .revokeToken }
    }
    return .nothingToRevoke
  }

  /// Returns true if the family has ended. A family without a record has not ended: its record is made by the first
  /// refresh, or by the end.
  public func hasEnded(_ family: TransactionID, now: UnixTime) async throws(StoreError) -> Bool {
    for _ in 0..<RefreshLedger.maximumAttempts {
      let epoch = store.epoch
      if try await restoreEnds(in: epoch, now: now) { continue }
      let value = try await store.get(RefreshLedger.key(family), now: now)
      guard store.epoch == epoch else { continue }
      return value.flatMap { FamilyRecord(parsing: $0) }?.state == .ended
    }
    throw .unavailable("the store keeps beginning other epochs")
  }

  /// Returns true if no refresh token of the family has been used, and the family has not ended. Only for a family that
  /// began in the present epoch of the store.
  public func isUnused(_ family: TransactionID, now: UnixTime) async throws(StoreError) -> Bool {
    try await store.get(RefreshLedger.key(family), now: now) == nil
  }

  /// Records in an ended family that the caller of `claim` or `dutyIfEnded(_:now:)` revokes the token of `use` upstream.
  /// Returns false, and changes nothing, if `old` is no longer the value in the store.
  func markRevoked(
    _ use: RefreshUse, _ record: inout FamilyRecord, _ old: [UInt8], now: UnixTime
  ) async throws(StoreError) -> Bool {
    record.generation = UInt32(clamping: use.generation + 1)
    return try await store.replace(
      RefreshLedger.key(use.family), old, with: record.bytes, expiry: recordExpiry(use, record, now), now: now)
  }

  /// Ends a family for good. Returns true if it had not ended before.
  ///
  /// - Parameters:
  ///   - generations: the number of generations, counted from 0, whose tokens the caller revokes upstream.
  ///   - holder: the client and network that a new record is charged to.
  ///   - expiry: the latest expiry of any token of the family.
  ///   - adoptedUntil: the time until which tokens that the upstream issued before the gateway was installed are
  ///     accepted.
  public func end(
    _ family: TransactionID, revokingGenerations generations: Int, holder: StoreHolder, expiry: UnixTime,
    adoptedUntil: UnixTime,
    now: UnixTime
  ) async throws(StoreError) -> Bool {
    let key = RefreshLedger.key(family)
    for _ in 0..<RefreshLedger.maximumAttempts {
      let epoch = store.epoch
      var ended = FamilyRecord(state: .ended)
      ended.generation = UInt32(clamping: generations)
      guard let old = try await store.get(key, now: now) else {
        let until = expiry + RefreshLedger.clockMargin
        guard try await store.put(key, ended.bytes, in: epoch, holder: holder, expiry: until, now: now) == nil else {
          continue
        }
        ends.add(EndedFamilies.End(family: family, generation: ended.generation, expiry: expiry), in: epoch, now: now)
        return true
      }
      let record = FamilyRecord(parsing: old)
      ended.isAdopted = record?.isAdopted ?? false
      let wasActive = record?.state != .ended
      if let record, !wasActive { ended.generation = max(ended.generation, record.generation) }
      let last = max(expiry, ended.isAdopted ? adoptedUntil : 0)
      let until = last + RefreshLedger.clockMargin
      guard try await store.replace(key, old, with: ended.bytes, expiry: until, now: now) else { continue }
      ends.add(EndedFamilies.End(family: family, generation: ended.generation, expiry: last), in: epoch, now: now)
      return wasActive
    }
    throw .unavailable("the family of refresh tokens keeps changing")
  }

  // MARK: A new epoch

  /// Remembers the end of a family that this process has found in the store, so that `restoreEnds` can store the end
  /// again in a new epoch. This is necessary because another process may have ended the family.
  func remember(_ record: FamilyRecord, of use: RefreshUse, in epoch: EpochID, now: UnixTime) {
    let expiry = tokenExpiry(use, record, now)
    ends.add(
      EndedFamilies.End(family: use.family, generation: record.generation, expiry: expiry), in: epoch, now: now)
  }

  /// Returns true if the family of the token may have ended in an epoch before `epoch`. This is always possible for an
  /// adopted token (`RefreshUse.isAdopted`), which contains no epoch.
  func familyMayHaveEnded(_ use: RefreshUse, before epoch: EpochID) -> Bool { use.epoch != epoch || use.isAdopted }

  /// Ends again each remembered family whose end the store may have lost when it began another epoch. Returns true if
  /// there was such a family. The epoch may then have changed meanwhile, so the caller must begin again.
  func restoreEnds(in epoch: EpochID, now: UnixTime) async throws(StoreError) -> Bool {
    let missing = ends.missing(in: epoch, now: now)
    guard !missing.isEmpty else { return false }
    // A holder without a limit, because the holders of the original records are not known any more.
    let holder = StoreHolder(address: "", isLoopback: true)
    // Several requests may do this at the same time. Because each uses a random order, they share the work.
    for end in missing.shuffled() where ends.isMissing(end.family, in: epoch) {
      _ = try await self.end(
        end.family, revokingGenerations: Int(end.generation), holder: holder, expiry: end.expiry,
        adoptedUntil: end.expiry,
        now: now)
    }
    return true
  }
}
