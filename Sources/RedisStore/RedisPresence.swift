internal import OAuth
internal import Stores
internal import Synchronization
internal import Time

/// Shows the other processes that this one lives while it holds claims, and finds out which other processes are gone.
/// All workers share one instance.
///
/// Theory of operation. While the process holds claims, the server has a key with the id of the process. The server
/// ends the key `RedisLimits.presenceLifetime` after it has executed the write, by its own clock. The process counts
/// the same time from the moment *before* it sent the write, by its monotonic clock, so it never relies on a key that
/// is gone.
///
///     none --beginHold--> unconfirmed --reply--> confirmed until (time of the write + lifetime)
///      ^                                          |  ^  |
///      +----------- the time has passed ----------+  +--+ reply to a later write
///
/// A worker writes the key in front of its commands (`dueWrite`), on the same connection, so the key exists before each
/// claim. A worker without commands waits at most until `nextWrite`, and then writes the key alone. If the confirmed
/// time passes before the reply to a later write, other processes may take over the claims with this id. The process
/// then never uses the id again, and `isAlive` stays false for the id, so that a request with such a claim does not
/// contact the upstream.
///
/// A key may also be missing although its process lives. In a new epoch, the server may have lost keys. So this process
/// does not find another one gone before it has itself been in the epoch for `RedisLimits.presenceGrace`. While a
/// server is stopped, no process can write its key, and the keys end. So another process is gone only if its key is
/// missing twice, at an interval of at least `RedisLimits.presenceConfirmation`. In this time, processes that live
/// connect again and record the ends of their claims (`EphemeralStore.replaceLater`).
final class RedisPresence: Sendable {
  /// A write of the key, which a worker sends or has sent.
  struct Write: Sendable {
    fileprivate let presence: RedisPresence
    /// The id of the process in the key.
    let claimant: ClaimantID
    fileprivate let sent: MonotonicTime

    /// Records that the server has executed the write.
    func confirm(now: MonotonicTime) { presence.confirm(self, now: now) }
  }

  private struct Shared {
    var claimant = ClaimantID()
    /// The number of claims that the process holds or is about to make.
    var holds = 0
    /// The time until which the key certainly exists; `nil` before the first confirmed write with this id.
    var confirmedUntil: MonotonicTime?
    /// The time of the latest write with this id; `nil` before the first.
    var written: MonotonicTime?
    var epoch = EpochID.none
    /// The time from which a missing key can show, in this epoch, that its process is gone; `nil` before the first
    /// connection.
    var findsGoneFrom: MonotonicTime?
    /// The processes whose keys are missing, and the time at which each key was first found missing.
    var missing: [ClaimantID: MonotonicTime] = [:]

    /// Takes another id if `confirmedUntil` has passed.
    mutating func renew(now: MonotonicTime) {
      guard let confirmedUntil, now >= confirmedUntil else { return }
      claimant = ClaimantID()
      self.confirmedUntil = nil
      written = nil
    }
  }

  private let shared = Mutex(Shared())

  // MARK: The claims of this process

  /// Counts a claim that the process is about to make. Returns the id that the claim must contain.
  func beginHold(now: MonotonicTime) -> ClaimantID {
    shared.withLock { shared in
      shared.renew(now: now)
      shared.holds += 1
      return shared.claimant
    }
  }

  /// Ends the hold of one `beginHold`.
  func endHold() {
    shared.withLock { $0.holds -= 1 }
  }

  /// Returns true if the key of the claimant certainly exists for `time` from now.
  func isAlive(_ claimant: ClaimantID, for time: Milliseconds, now: MonotonicTime) -> Bool {
    shared.withLock { shared in
      guard claimant == shared.claimant, let confirmedUntil = shared.confirmedUntil else { return false }
      return now + time < confirmedUntil
    }
  }

  // MARK: Writes

  /// The time at which a worker without commands has to write the key; `nil` while the process holds no claims.
  var nextWrite: MonotonicTime? {
    shared.withLock { shared in
      guard shared.holds > 0 else { return nil }
      return shared.written.map { $0 + RedisLimits.presenceInterval } ?? 0
    }
  }

  /// Returns the write that a worker has to send in front of its next commands; `nil` if none is due.
  ///
  /// - Parameters:
  ///   - hasCommands: true if commands follow, which may contain claims. The key must then certainly exist for longer
  ///     than they take. A recent write that is not confirmed is not enough: another worker may have sent it, and the
  ///     server may not have executed it yet.
  ///   - now: the present time or an earlier one, such as the start of the loop's turn.
  func dueWrite(hasCommands: Bool, now: MonotonicTime) -> Write? {
    shared.withLock { shared in
      guard shared.holds > 0 else { return nil }
      shared.renew(now: now)
      let isRoutineWriteDue = shared.written.map { $0 + RedisLimits.presenceInterval <= now } ?? true
      let mayEndTooSoon = shared.confirmedUntil.map { $0 < now + RedisLimits.presenceReserve } ?? true
      guard isRoutineWriteDue || (hasCommands && mayEndTooSoon) else { return nil }
      shared.written = now
      return Write(presence: self, claimant: shared.claimant, sent: now)
    }
  }

  private func confirm(_ write: Write, now: MonotonicTime) {
    shared.withLock { shared in
      // A reply that comes after the confirmed time is ignored, even if the write succeeded: the key may have been
      // missing before the write, and other processes may have taken over claims.
      guard write.claimant == shared.claimant, shared.confirmedUntil.map({ now < $0 }) ?? true else { return }
      let until = write.sent + RedisLimits.presenceLifetime
      shared.confirmedUntil = max(shared.confirmedUntil ?? until, until)
    }
  }

  // MARK: The claims of other processes

  /// Records a new connection and its epoch. Forgets the missing keys: they may have ended while the server was away,
  /// although their processes live.
  func recordConnection(_ epoch: EpochID, now: MonotonicTime) {
    shared.withLock { shared in
      shared.missing = [:]
      guard epoch != shared.epoch else { return }
      shared.epoch = epoch
      shared.findsGoneFrom = now + RedisLimits.presenceGrace
    }
  }

  /// Returns true if a missing key of the process can show that the process is gone. False for this process itself, for
  /// an epoch other than the latest one, and until this process has been in the epoch for long enough.
  func canFindGone(_ claimant: ClaimantID, in epoch: EpochID, now: MonotonicTime) -> Bool {
    shared.withLock { shared in
      guard claimant != shared.claimant, epoch == shared.epoch, let from = shared.findsGoneFrom else { return false }
      return now >= from
    }
  }

  /// Records that the process `claimant` has a key.
  func recordPresent(_ claimant: ClaimantID) {
    shared.withLock { shared in
      shared.missing[claimant] = nil
    }
  }

  /// Records that the key of the process `claimant` is missing. Returns true if the key has been missing for long
  /// enough to find the process gone.
  func recordMissing(_ claimant: ClaimantID, now: MonotonicTime) -> Bool {
    shared.withLock { shared in
      if let first = shared.missing[claimant] { return first + RedisLimits.presenceConfirmation <= now }
      if shared.missing.count >= RedisLimits.maximumMissing {
        shared.missing = shared.missing.filter { now < $0.value + RedisLimits.missingLifetime }
      }
      // Without room, the process counts as alive.
      if shared.missing.count < RedisLimits.maximumMissing { shared.missing[claimant] = now }
      return false
    }
  }
}
