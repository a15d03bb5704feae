internal import Synchronization

/// The number of entries of each holder within one kind whose values have a fixed length, the number of entries of all
/// unlisted clients together, and the number of all entries.
///
/// The entries of these kinds are never evicted, so the limit of a holder depends on the free part of the share
/// (`StoreKind.Properties.permits`). All shards of a kind have one `HolderCharges`, and share its capacity.
package final class HolderCharges: Sendable {
  private struct Counts {
    /// The holders that are limited or unlisted, with their numbers of entries.
    var holders = HolderAmounts()
    /// The entries of all unlisted clients.
    var unlisted = 0

    /// Removes an entry of the holder with this number.
    mutating func remove(_ number: UInt32) {
      if StoreHolder.isUnlisted(holders.fingerprint(number)) { unlisted -= 1 }
      holders.subtract(1, from: number)
    }
  }

  /// The number that `charge` returns for a holder that is not counted.
  package static let uncounted = HolderAmounts.none

  private let capacity: Int
  private let properties: StoreKind.Properties
  /// The number of all entries.
  private let used = Atomic<Int>(0)
  private let counts = Mutex(Counts())

  /// Creates the counts of one kind.
  ///
  /// - Parameter capacity: the maximum number of entries.
  package init(_ kind: StoreKind, capacity: Int) {
    properties = kind.properties
    self.capacity = capacity
  }

  /// The number of all entries.
  package var count: Int { used.load(ordering: .relaxed) }
  /// The used part of the capacity in percent.
  package var fill: Int { count * 100 / max(1, capacity) }

  /// Counts an entry. Returns the number of its holder, which the caller passes to `release` later. Returns `nil` if
  /// there is no room for another entry of this holder.
  ///
  /// - Parameters:
  ///   - fingerprint: the fingerprint of the holder.
  ///   - isLimited: true if the holder is limited (`StoreHolder.isLimited`).
  package func charge(_ fingerprint: UInt64, isLimited: Bool) -> UInt32? {
    let before = used.wrappingAdd(1, ordering: .relaxed).oldValue
    let isUnlisted = StoreHolder.isUnlisted(fingerprint)
    var number: UInt32?
    if before < capacity {
      number =
        isLimited || isUnlisted
        ? chargeHolder(fingerprint, isLimited: isLimited, free: capacity - before) : HolderCharges.uncounted
    }
    if number == nil { used.wrappingSubtract(1, ordering: .relaxed) }
    return number
  }

  private func chargeHolder(_ fingerprint: UInt64, isLimited: Bool, free: Int) -> UInt32? {
    let isUnlisted = StoreHolder.isUnlisted(fingerprint)
    return counts.withLock { counts in
      // Half of the capacity, which is that of all unlisted clients together.
      let capacity = isUnlisted ? self.capacity / 2 : self.capacity
      let free = isUnlisted ? min(free, capacity - counts.unlisted) : free
      guard free > 0 else { return nil }
      let own = counts.holders.amount(of: fingerprint)
      if isLimited, !properties.permits(own: own, free: free, capacity: capacity) { return nil }
      if isUnlisted { counts.unlisted += 1 }
      return counts.holders.add(1, to: fingerprint)
    }
  }

  /// Counts an entry that a store contains when it is opened.
  ///
  /// - Parameter fingerprint: the fingerprint of the holder; 0 for a holder that is not counted.
  package func restore(_ fingerprint: UInt64) {
    used.wrappingAdd(1, ordering: .relaxed)
    guard fingerprint != 0 else { return }
    counts.withLock { counts in
      _ = counts.holders.add(1, to: fingerprint)
      if StoreHolder.isUnlisted(fingerprint) { counts.unlisted += 1 }
    }
  }

  /// Removes an entry of the holder with this number, a result of `charge`.
  package func release(_ number: UInt32) {
    used.wrappingSubtract(1, ordering: .relaxed)
    guard number != HolderCharges.uncounted else { return }
    counts.withLock { $0.remove(number) }
  }

  /// Removes an entry of a holder.
  ///
  /// - Parameter fingerprint: the fingerprint of the holder; 0 for a holder that is not counted.
  package func release(fingerprint: UInt64) {
    used.wrappingSubtract(1, ordering: .relaxed)
    guard fingerprint != 0 else { return }
    counts.withLock { counts in
      if let number = counts.holders.number(of: fingerprint) { counts.remove(number) }
    }
  }
}
