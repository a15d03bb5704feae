internal import OAuth
internal import Reactor
internal import Stores
internal import Synchronization
internal import Time

/// The charge of an entry while the operation that stores the entry is in progress.
final class RedisCharge: Sendable {
  let charge: HolderBudgets.Charge
  private let isUncertain = Atomic<Bool>(false)

  init(_ charge: HolderBudgets.Charge) { self.charge = charge }

  /// True if the operation has failed, but the server may have executed it.
  var mayHaveRun: Bool { isUncertain.load(ordering: .acquiring) }

  func recordThatItMayHaveRun() { isUncertain.store(true, ordering: .releasing) }
}

extension RedisStore {
  /// The assumed length of a value for which room is reserved: that of most sealed responses. A reservation of 16 KiB
  /// for each would leave most of the memory unused, because the server stores an empty value until the value is known.
  static let assumedLength = 2_048

  /// Counts an entry in the budget of its holder, and removes the entries that are evicted for it. Throws `.full` if
  /// the budget does not suffice.
  func charge(
    _ key: StoreKey, _ length: Int, _ holder: StoreHolder, _ lifetime: Seconds
  ) async throws(StoreError) -> HolderBudgets.Charge {
    let bytes = RedisStore.memory(ofName: prefix.count + RedisStore.nameLength, value: length)
    guard
      let charge = budgets.charge(
        key, bytes: bytes, to: holder, lifetime: lifetime, now: SystemClock.monotonicTime())
    else { throw .full }
    let epoch = self.epoch
    for (index, evicted) in charge.evicted.enumerated() {
      do throws(StoreError) {
        _ = try await perform(.take(key: name(evicted)), in: epoch)
      } catch {
        budgets.undo(charge)
        // The evicted entries are no longer counted, so they are removed as soon as the server answers.
        for key in charge.evicted[index...] { await performLater(.take(key: name(key)), in: epoch) }
        throw error
      }
    }
    return charge
  }

  /// Performs an operation that stores an entry. Keeps its charge if the entry is stored or may be stored, and
  /// otherwise undoes it. Returns the existing value; `nil` if the entry was stored.
  func perform(
    _ operation: RedisOperation, in epoch: EpochID, charge: HolderBudgets.Charge
  ) async throws(StoreError) -> [UInt8]? {
    let charged = RedisCharge(charge)
    do throws(StoreError) {
      let existing = try value(of: try await perform(operation, in: epoch, charged: charged))
      // A request calls `put` many times while it waits for the end of the claim of another request.
      if existing == nil { budgets.keep(charge) } else { budgets.undo(charge) }
      return existing
    } catch {
      if charged.mayHaveRun { budgets.keep(charge, isCertain: false) } else { budgets.undo(charge) }
      throw error
    }
  }
}
