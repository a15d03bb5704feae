public import Time

/// Limits the number of entries that one client and network, and all unlisted clients together, may make in a store that
/// other processes use too.
///
/// Each process counts the entries that it makes. Each holder has a token bucket for each kind, which refills within
/// the lifetime of an entry. So a holder can have, through one process, at most about twice as many entries as a
/// ``MemoryStore`` would permit.
public final class HolderBudgets: Sendable {
  /// The maximum number of holders per kind that are remembered.
  private static let maximumHolders = 8_192
  /// The assumed bytes of a value of a kind without a fixed length.
  private static let assumedLength = 2_048

  private let limiters: [RateLimiter]
  /// One bucket for each kind, for all unlisted clients together.
  private let unlistedLimiters: [RateLimiter]
  private static let unlistedKey = RateKey()

  /// Creates budgets without any charge.
  public init() {
    limiters = StoreKind.allCases.map { kind in
      let burst = HolderBudgets.maximumBurst(of: kind)
      return RateLimiter(TokenBucket.Rate(burst: burst, perMinute: burst), maximumKeys: HolderBudgets.maximumHolders)
    }
    unlistedLimiters = StoreKind.allCases.map { kind in
      let burst = HolderBudgets.unlistedBurst(of: kind)
      return RateLimiter(TokenBucket.Rate(burst: burst, perMinute: burst), maximumKeys: 1)
    }
  }

  /// Charges an entry to its holder. Returns false if the holder has made too many.
  ///
  /// - Parameter lifetime: the lifetime of the entry, in which a used budget refills.
  public func charge(_ kind: StoreKind, to holder: StoreHolder, lifetime: Seconds, now: MonotonicTime) -> Bool {
    let unlistedRate = HolderBudgets.rate(HolderBudgets.unlistedBurst(of: kind), lifetime: lifetime)
    let isShared = HolderBudgets.isShared(kind, by: holder)
    if isShared, !unlistedLimiters[kind.index].take(HolderBudgets.unlistedKey, at: unlistedRate, now: now) {
      return false
    }
    guard holder.isLimited else { return true }
    let rate = HolderBudgets.rate(HolderBudgets.maximumBurst(of: kind), lifetime: lifetime)
    if limiters[kind.index].take(RateKey(holder: holder), at: rate, now: now) { return true }
    if isShared { unlistedLimiters[kind.index].giveBack(HolderBudgets.unlistedKey, at: unlistedRate, now: now) }
    return false
  }

  /// Undoes a charge for an entry that was not stored, because the key had an entry already.
  public func giveBack(_ kind: StoreKind, to holder: StoreHolder, lifetime: Seconds, now: MonotonicTime) {
    if HolderBudgets.isShared(kind, by: holder) {
      unlistedLimiters[kind.index].giveBack(
        HolderBudgets.unlistedKey, at: HolderBudgets.rate(HolderBudgets.unlistedBurst(of: kind), lifetime: lifetime),
        now: now)
    }
    guard holder.isLimited else { return }
    limiters[kind.index].giveBack(
      RateKey(holder: holder), at: HolderBudgets.rate(HolderBudgets.maximumBurst(of: kind), lifetime: lifetime),
      now: now)
  }

  /// True if the entry also counts against the limit of all unlisted clients together.
  private static func isShared(_ kind: StoreKind, by holder: StoreHolder) -> Bool {
    holder.isUnlisted && kind.properties.whenFull == .refuse
  }

  private static func rate(_ burst: Int, lifetime: Seconds) -> TokenBucket.Rate {
    TokenBucket.Rate(burst: burst, perMinute: max(1, burst * 60 / max(1, lifetime.count)))
  }

  /// Returns the number of entries that a holder may make at once: its part of a memory store of the default size, but
  /// at least the number of its entries that other holders cannot evict.
  public static func maximumBurst(of kind: StoreKind) -> Int {
    max(EntryTable.protectedEntries, maximumEntries(of: kind) / kind.properties.holderDivisor)
  }

  /// Returns the number of entries that all unlisted clients together may make at once: a quarter of a memory store of
  /// the default size. With as many that refill within the lifetime of an entry, they have at most half of it.
  public static func unlistedBurst(of kind: StoreKind) -> Int { maximumEntries(of: kind) / 4 }

  /// Returns the number of entries in a memory store of the default size.
  private static func maximumEntries(of kind: StoreKind) -> Int {
    let properties = kind.properties
    let length =
      switch properties.size {
      case .fixed(let length): RecordTable.recordLength(valueLength: length)
      case .upTo(let longest): min(longest, assumedLength) + EntryTable.overhead
      }
    return MemoryStore.defaultSize / 100 * properties.percent / length
  }
}
