internal import Synchronization

/// Token buckets by client and address, for throttling requests and failed attempts at a secret.
///
/// The memory is fixed: 24 bytes for each of `maximumKeys` buckets, in sets of eight. When a set is full, the bucket with
/// the most tokens makes room, which is the one that has the least to be remembered for: an attacker with many addresses
/// forgets his own harmless ones first. Which keys share a set depends on a seed that differs in every process.
public final class RateLimiter: Sendable {
  private struct Slot: Sendable {
    /// 64 bits of a keyed hash stand for the key; 0 is an empty slot.
    var fingerprint: UInt64 = 0
    var bucket: TokenBucket
  }

  private final class Shard: Sendable {
    let slots: Mutex<[Slot]>

    init(_ slots: [Slot]) { self.slots = Mutex(slots) }
  }

  private static let ways = 8
  private static let shardCount = 16

  public let rate: TokenBucket.Rate
  private let shards: [Shard]
  private let setsPerShard: Int

  /// - Parameter maximumKeys: rounded up to a multiple of 128.
  public init(_ rate: TokenBucket.Rate, maximumKeys: Int = 16_384) {
    let sets = max(1, (maximumKeys + Self.ways * Self.shardCount - 1) / (Self.ways * Self.shardCount))
    self.rate = rate
    setsPerShard = sets
    shards = (0..<Self.shardCount).map { _ in
      Shard([Slot](repeating: Slot(bucket: TokenBucket(rate, now: 0)), count: sets * Self.ways))
    }
  }

  /// Seconds until `key` has a token again; `nil` if it has one now. Takes none.
  /// - Parameter now: milliseconds on a monotonic clock.
  public func retryAfter(_ key: RateKey, now: Int64) -> Int? { retryAfter(key, at: rate, now: now) }

  /// The same at a rate that may have changed since the last time.
  public func retryAfter(_ key: RateKey, at rate: TokenBucket.Rate, now: Int64) -> Int? {
    let (shard, range, fingerprint) = place(key)
    return shard.slots.withLock { slots in
      guard let index = range.first(where: { slots[$0].fingerprint == fingerprint }) else { return nil }
      return slots[index].bucket.retryAfter(rate, now: now)
    }
  }

  /// Takes a token of `key`: `false` if it has none.
  /// - Parameter now: milliseconds on a monotonic clock.
  public func take(_ key: RateKey, now: Int64) -> Bool { take(key, at: rate, now: now) }

  /// The same at a rate that may have changed since the last time.
  public func take(_ key: RateKey, at rate: TokenBucket.Rate, now: Int64) -> Bool {
    let (shard, range, fingerprint) = place(key)
    return shard.slots.withLock { slots in
      if let index = range.first(where: { slots[$0].fingerprint == fingerprint }) {
        return slots[index].bucket.take(rate, now: now)
      }
      var chosen = range.lowerBound
      var most = -1.0
      for index in range {
        // An empty slot comes before every bucket.
        let level = slots[index].fingerprint == 0 ? Double.infinity : slots[index].bucket.level(rate, now: now)
        if level > most {
          most = level
          chosen = index
        }
      }
      slots[chosen] = Slot(fingerprint: fingerprint, bucket: TokenBucket(rate, now: now))
      return slots[chosen].bucket.take(rate, now: now)
    }
  }

  private func place(_ key: RateKey) -> (Shard, Range<Int>, UInt64) {
    var hasher = Hasher()
    hasher.combine(key)
    let hash = UInt64(truncatingIfNeeded: hasher.finalize())
    let set = Int(hash >> 8 % UInt64(setsPerShard)) * Self.ways
    return (shards[Int(hash % UInt64(Self.shardCount))], set..<set + Self.ways, max(hash, 1))
  }
}
