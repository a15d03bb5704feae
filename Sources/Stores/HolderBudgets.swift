internal import Synchronization
public import Time

/// Limits the bytes that this process uses in a store of several processes, and the part of each holder, so that the
/// memory of the store never ends.
///
/// Each process counts the entries that it makes until they expire or it removes them, by the rules of ``MemoryStore``:
/// each kind has its share of `size`. In a full share of an evictable kind, the oldest entry of the largest holder is
/// evicted, which the caller removes from the store. For the other kinds, the limit of a holder falls with the free part
/// of the share (`StoreKind.Properties.permits`), and all unlisted clients together have half of the share.
public final class HolderBudgets: Sendable {
  /// A charge that can be undone. After the entry was stored, or may have been stored, the caller calls
  /// ``keep(_:isCertain:)``; otherwise ``undo(_:)``.
  public struct Charge: Sendable {
    fileprivate let key: StoreKey
    /// `nil` for an evictable kind.
    fileprivate let kept: HolderBudget.Charge?
    /// The entries that are evicted for this one. The caller removes them from the store.
    public let evicted: [StoreKey]
  }

  /// The budget of one kind.
  private enum Part: Sendable {
    /// The entries of a kind that is never evicted.
    case kept(share: Int, Locked<HolderBudget>)
    /// The entries of an evictable kind, with their keys and empty values.
    case evictable(Locked<EntryTable>)
  }

  private final class Locked<Value: Sendable>: Sendable {
    let value: Mutex<Value>

    init(_ value: sending Value) { self.value = Mutex(value) }
  }

  /// The maximum number of expired entries that a charge removes if there is room.
  private static let expiredPerCharge = 8

  private let parts: [Part]

  /// Creates budgets without any charge.
  ///
  /// - Parameter size: the bytes of all kinds together.
  public init(size: Int) {
    parts = StoreKind.allCases.map { kind in
      let share = size / 100 * kind.properties.percent
      return switch kind.properties.whenFull {
      case .refuse: .kept(share: share, Locked(HolderBudget(kind)))
      case .evict: .evictable(Locked(EntryTable(kind, share: share, capacity: Int.max, keepsEvictedKeys: true)))
      }
    }
  }

  /// The bytes of all charges, including those of expired entries that have not been removed yet.
  public var bytes: Int {
    parts.reduce(0) { sum, part in
      switch part {
      case .kept(_, let budget): sum + budget.value.withLock { $0.bytes }
      case .evictable(let table): sum + table.value.withLock { $0.bytes }
      }
    }
  }

  /// Charges an entry to its holder. Returns `nil` if there is no room for another entry of this holder.
  ///
  /// - Parameters:
  ///   - bytes: the bytes that the entry uses in the store.
  ///   - lifetime: the lifetime of the entry.
  public func charge(
    _ key: StoreKey, bytes: Int, to holder: StoreHolder, lifetime: Seconds, now: MonotonicTime
  ) -> Charge? {
    let now = UnixTime(seconds: Int64(clamping: now.milliseconds / 1_000))
    // One second more than the lifetime, because `now` is rounded down.
    let expiry = now + lifetime + 1
    switch parts[key.kind.index] {
    case .kept(let share, let budget):
      return budget.value.withLock { budget in
        budget.removeExpired(now: now, atMost: HolderBudgets.expiredPerCharge)
        if !HolderBudgets.permits(bytes, key.kind, holder, budget, share) {
          budget.removeExpired(now: now, atMost: Int.max)
          guard HolderBudgets.permits(bytes, key.kind, holder, budget, share) else { return nil }
        }
        return Charge(key: key, kept: budget.add(key, bytes, of: holder, expiry: expiry, now: now), evicted: [])
      }
    case .evictable(let table):
      return table.value.withLock { table in
        do throws(StoreError) {
          // The table adds its own overhead, which is part of `bytes` here.
          try table.reserve(key, max(0, bytes - EntryTable.overhead), holder: holder, expiry: expiry, now: now)
        } catch {
          return nil
        }
        return Charge(key: key, kept: nil, evicted: table.takeEvictedKeys())
      }
    }
  }

  /// Keeps a charge until its entry expires or is removed. A key has at most one charge that is kept.
  ///
  /// - Parameter isCertain: false if the operation that stores the entry has failed, but may have been executed.
  public func keep(_ charge: Charge, isCertain: Bool = true) {
    guard case .kept(_, let budget) = parts[charge.key.kind.index], let kept = charge.kept else { return }
    budget.value.withLock { $0.keep(kept, isCertain: isCertain) }
  }

  /// Returns the kept charge of a key; `nil` without one. A caller that removes the entry of the key gets the charge
  /// before the removal and undoes it afterwards: another request may store a new entry in the meantime, whose charge
  /// then remains.
  public func charge(of key: StoreKey) -> Charge? {
    switch parts[key.kind.index] {
    case .kept(_, let budget):
      budget.value.withLock { $0.charge(of: key) }.map { Charge(key: key, kept: $0, evicted: []) }
    case .evictable: Charge(key: key, kept: nil, evicted: [])
    }
  }

  /// Undoes a charge for an entry that was not stored or has been removed. A second call has no effect.
  public func undo(_ charge: Charge) {
    switch parts[charge.key.kind.index] {
    case .kept(_, let budget): if let kept = charge.kept { budget.value.withLock { $0.undo(kept) } }
    case .evictable(let table): table.value.withLock { $0.remove(charge.key) }
    }
  }

  /// Undoes a charge unless it is certain that its entry was stored. Called when the store no longer has the value of
  /// an uncertain entry, or never had it. Has no effect for evictable kinds.
  public func undoUnlessStored(_ charge: Charge) {
    guard case .kept(_, let budget) = parts[charge.key.kind.index], let kept = charge.kept else { return }
    budget.value.withLock { $0.undoUnlessStored(kept) }
  }

  private static func permits(
    _ bytes: Int, _ kind: StoreKind, _ holder: StoreHolder, _ budget: HolderBudget, _ share: Int
  ) -> Bool {
    // Half of the share, which is that of all unlisted clients together.
    let part = holder.isUnlisted ? share / 2 : share
    let free = min(share - budget.bytes, holder.isUnlisted ? part - budget.unlistedBytes : Int.max)
    guard bytes <= free else { return false }
    return !holder.isLimited || kind.properties.permits(own: budget.bytes(of: holder), free: free, capacity: part)
  }
}
