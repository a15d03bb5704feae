public import Time

/// Limits the number of entries that one client and network may make in a store that other processes use too.
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

  /// Creates budgets without any charge.
  public init() {
    limiters = StoreKind.allCases.map { kind in
      let burst = HolderBudgets.maximumBurst(of: kind)
      return RateLimiter(TokenBucket.Rate(burst: burst, perMinute: burst), maximumKeys: HolderBudgets.maximumHolders)
    }
  }

  /// Charges an entry to its holder. Returns false if the holder has made too many.
  ///
  /// - Parameter lifetime: the lifetime of the entry, in which a used budget refills.
  public func charge(_ kind: StoreKind, to holder: StoreHolder, lifetime: Seconds, now: MonotonicTime) -> Bool {
    guard holder.isLimited else { return true }
    return limiters[kind.index].take(
      RateKey(holder: holder), at: HolderBudgets.rate(kind, lifetime: lifetime), now: now)
  }

  /// Undoes a charge for an entry that was not stored, because the key had an entry already.
  public func giveBack(_ kind: StoreKind, to holder: StoreHolder, lifetime: Seconds, now: MonotonicTime) {
    guard holder.isLimited else { return }
    limiters[kind.index].giveBack(
      RateKey(holder: holder), at: HolderBudgets.rate(kind, lifetime: lifetime), now: now)
  }

  private static func rate(_ kind: StoreKind, lifetime: Seconds) -> TokenBucket.Rate {
    let burst = maximumBurst(of: kind)
    return TokenBucket.Rate(burst: burst, perMinute: max(1, burst * 60 / max(1, lifetime.count)))
  }

  /// Returns the number of entries that a holder may make at once: its part of a memory store of the default size, but
  /// at least the number of its entries that other holders cannot evict.
  public static func maximumBurst(of kind: StoreKind) -> Int {
    let properties = kind.properties
    let length =
      switch properties.size {
      case .fixed(let length): RecordTable.recordLength(valueLength: length)
      case .upTo(let longest): min(longest, assumedLength) + EntryTable.overhead
      }
    return max(
      EntryTable.protectedEntries,
      MemoryStore.defaultSize / 100 * properties.percent / length / properties.holderDivisor)
  }
}
