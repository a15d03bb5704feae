internal import Synchronization

/// The number of entries of each holder within one kind, so that no holder fills the whole share, and the number of
/// entries of all unlisted clients together.
///
/// A hash assigns each holder to one of 32,767 counts for listed clients, or to one of as many for unlisted clients. So
/// a holder shares its limit with a given attacker with a probability of 1 in 32,767.
package final class HolderCharges: Sendable {
  private static let slotsPerGroup: UInt64 = 32_767
  /// The result of `charge` for an unlisted client without a limit of its own.
  private static let unlimitedUnlisted = UInt16.max

  private struct Counts {
    /// By the result of `charge`. The odd ones, except the last, are those of listed clients.
    var holders: [UInt32] = []
    /// The entries of all unlisted clients.
    var unlisted = 0
  }

  private let limit: UInt32
  private let unlistedLimit: Int
  private let counts = Mutex(Counts())

  /// Creates the counts of one kind.
  ///
  /// - Parameters:
  ///   - limit: the maximum number of entries of a limited holder.
  ///   - unlistedLimit: the maximum number of entries of all unlisted clients together.
  package init(limit: Int, unlistedLimit: Int) {
    self.limit = UInt32(clamping: limit)
    self.unlistedLimit = unlistedLimit
  }

  /// Counts an entry. Returns the index of the count, which the caller passes to `release` later: 0 for a holder that is
  /// not counted. Returns `nil` if the holder, or all unlisted clients together, have reached the limit.
  package func charge(_ holder: StoreHolder) -> UInt16? {
    guard holder.isLimited || holder.isUnlisted else { return 0 }
    let slot = HolderCharges.slot(of: holder)
    return counts.withLock { counts in
      if holder.isUnlisted, counts.unlisted >= unlistedLimit { return nil }
      if holder.isLimited {
        if counts.holders.isEmpty { counts.holders = HolderCharges.noCounts }
        guard counts.holders[Int(slot)] < limit else { return nil }
        counts.holders[Int(slot)] += 1
      }
      if holder.isUnlisted { counts.unlisted += 1 }
      return slot
    }
  }

  /// Adds `count` to the count with the index `slot`. Called when a store that outlives the process is opened, for the
  /// entries that it already contains.
  ///
  /// - Parameter isOfThisProcess: false for entries of an earlier process. They count for unlisted clients, but not for
  ///   a holder, whose index differs in each process.
  package func restore(_ slot: UInt16, count: Int, isOfThisProcess: Bool) {
    guard slot != 0 else { return }
    counts.withLock { counts in
      if isOfThisProcess, slot != HolderCharges.unlimitedUnlisted {
        if counts.holders.isEmpty { counts.holders = HolderCharges.noCounts }
        counts.holders[Int(slot)] += UInt32(clamping: count)
      }
      if HolderCharges.isUnlisted(slot) { counts.unlisted += count }
    }
  }

  /// Removes an entry from the count of its holder. The parameters are those of `restore`.
  package func release(_ slot: UInt16, isOfThisProcess: Bool = true) {
    guard slot != 0 else { return }
    counts.withLock { counts in
      if isOfThisProcess, slot != HolderCharges.unlimitedUnlisted { counts.holders[Int(slot)] -= 1 }
      if HolderCharges.isUnlisted(slot) { counts.unlisted -= 1 }
    }
  }

  private static var noCounts: [UInt32] { [UInt32](repeating: 0, count: Int(UInt16.max)) }

  private static func slot(of holder: StoreHolder) -> UInt16 {
    guard holder.isLimited else { return unlimitedUnlisted }
    let index = (holder.fingerprint >> 1) % slotsPerGroup * 2 + 1
    return UInt16(holder.isUnlisted ? index + 1 : index)
  }

  private static func isUnlisted(_ slot: UInt16) -> Bool { slot % 2 == 0 || slot == unlimitedUnlisted }
}
