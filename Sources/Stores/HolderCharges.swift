internal import Synchronization

/// The number of entries of each holder within one kind, so that no holder fills the whole share.
///
/// There are 65,535 counts, and a hash assigns each holder to one of them. So a holder shares its limit with a given
/// attacker with a probability of 1 in 65,535.
package final class HolderCharges: Sendable {
  private static let slots = UInt64(UInt16.max)

  private let limit: UInt32
  private let counts = Mutex<[UInt32]>([])

  /// Creates the counts of one kind.
  ///
  /// - Parameter limit: the maximum number of entries of a limited holder.
  package init(limit: Int) {
    self.limit = UInt32(clamping: limit)
  }

  /// Counts an entry. Returns the index of the count, which the caller passes to `release` later: 0 for a holder
  /// without a limit. Returns `nil` if the holder has reached its limit.
  package func charge(_ holder: StoreHolder) -> UInt16? {
    guard holder.isLimited else { return 0 }
    let slot = Int(holder.fingerprint % HolderCharges.slots) + 1
    return counts.withLock { counts in
      if counts.isEmpty { counts = [UInt32](repeating: 0, count: Int(HolderCharges.slots) + 1) }
      guard counts[slot] < limit else { return nil }
      counts[slot] += 1
      return UInt16(slot)
    }
  }

  /// Adds `count` to the count with the index `slot`. Called when a store that outlives the process is opened, for the
  /// entries that it already contains.
  package func restore(_ slot: UInt16, count: Int) {
    guard slot != 0 else { return }
    counts.withLock { counts in
      if counts.isEmpty { counts = [UInt32](repeating: 0, count: Int(HolderCharges.slots) + 1) }
      counts[Int(slot)] += UInt32(clamping: count)
    }
  }

  /// Removes an entry from the count of its holder.
  package func release(_ slot: UInt16) {
    guard slot != 0 else { return }
    counts.withLock { $0[Int(slot)] -= 1 }
  }
}
