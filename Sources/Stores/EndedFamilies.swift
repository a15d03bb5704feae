internal import OAuth
internal import Synchronization
internal import Time

/// The ends of refresh token families that this process has seen. A store that begins a new epoch may have lost the
/// records of these ends. Without a record, `RefreshLedger` could accept a token of an ended family.
///
/// Before the process accepts a token that may be from an earlier epoch, it stores these ends again in the new epoch
/// (`RefreshLedger.restoreEnds`). At most `maximum` ends are remembered. Only expired ends are removed to make room for
/// a later end. If none has expired, the later end is not remembered, so that an attacker cannot make the process
/// forget an earlier one.
final class EndedFamilies: Sendable {
  /// The end of a family.
  struct End: Sendable {
    let family: TransactionID
    /// The generation in the record of the ended family (`FamilyRecord.generation`).
    let generation: UInt32
    /// The latest expiry of any token of the family.
    let expiry: UnixTime
  }

  /// The maximum number of ends, which use about 400 KiB. Writing them to a new epoch takes about a second.
  static let maximum = 4_096

  /// An end that the process remembers.
  private struct Known {
    let end: End
    /// The epoch in which the end was stored.
    let epoch: EpochID
  }

  private struct State {
    /// The epoch in which the store has all ends; `nil` if no epoch is known to have them.
    var completeEpoch: EpochID?
    var ends: [TransactionID: Known] = [:]
  }

  private let state = Mutex(State())

  /// Remembers an end that is in the store of `epoch`.
  func add(_ end: End, in epoch: EpochID, now: UnixTime) {
    state.withLock { state in
      if state.ends[end.family] == nil, state.ends.count >= EndedFamilies.maximum {
        state.ends = state.ends.filter { $0.value.end.expiry > now }
        guard state.ends.count < EndedFamilies.maximum else { return }
      }
      state.ends[end.family] = Known(end: end, epoch: epoch)
      // An operation that began in an earlier epoch may add its end only now. The store of `completeEpoch` then lacks
      // this end.
      if state.completeEpoch != epoch { state.completeEpoch = nil }
    }
  }

  /// Returns the ends that the store of `epoch` may lack.
  func missing(in epoch: EpochID, now: UnixTime) -> [End] {
    state.withLock { state -> [End] in
      if state.completeEpoch == epoch { return [] }
      let missing = state.ends.values.filter { $0.epoch != epoch && $0.end.expiry > now }.map(\.end)
      if missing.isEmpty { state.completeEpoch = epoch }
      return missing
    }
  }

  /// Returns true if the store of `epoch` may lack the end of the family.
  func isMissing(_ family: TransactionID, in epoch: EpochID) -> Bool {
    state.withLock { state in
      guard let known = state.ends[family] else { return false }
      return known.epoch != epoch
    }
  }
}
