internal import Synchronization
public import Time

/// Token buckets, one for each `RateKey`, which limit the rates of requests and of failed guesses of a secret.
///
/// The memory is fixed: 24 bytes for each of `maximumKeys` buckets. They are divided into sets of eight, and a hash
/// assigns each key to a set. In a full set, a new key replaces the bucket with the most tokens, whose loss matters
/// least. So an attacker with many addresses first displaces its own buckets, which are almost full. The hash has a
/// seed that differs in every process.
public final class RateLimiter: Sendable {
  private struct Slot: Sendable {
    /// A 64-bit keyed hash of the key; 0 for an empty slot.
    var fingerprint: UInt64 = 0
    var bucket: TokenBucket
  }

  private final class Shard: Sendable {
    let slots: Mutex<[Slot]>

    init(_ slots: [Slot]) { self.slots = Mutex(slots) }
  }

  private static let slotsPerSet = 8
  private static let shardCount = 16

  /// The rate for calls without an argument for the rate.
  public let rate: TokenBucket.Rate
  private let shards: [Shard]
  private let setsPerShard: Int

  /// Creates a limiter with full buckets.
  ///
  /// - Parameter maximumKeys: the number of buckets, rounded up to a multiple of 128.
  public init(_ rate: TokenBucket.Rate, maximumKeys: Int = 16_384) {
    let sets = max(1, (maximumKeys + Self.slotsPerSet * Self.shardCount - 1) / (Self.slotsPerSet * Self.shardCount))
    self.rate = rate
    setsPerShard = sets
    shards = (0..<Self.shardCount).map { _ in
      Shard([Slot](repeating: Slot(bucket: TokenBucket(rate, now: 0)), count: sets * Self.slotsPerSet))
    }
  }

  /// Returns the time until `key` has a token again, or `nil` if it has one now. Takes no token.
  public func retryAfter(_ key: RateKey, now: MonotonicTime) -> Seconds? { retryAfter(key, at: rate, now: now) }

  /// Returns the time until `key` has a token at `rate`, or `nil` if it has one now. The rate may differ from that
  /// of earlier calls.
  public func retryAfter(_ key: RateKey, at rate: TokenBucket.Rate, now: MonotonicTime) -> Seconds? {
    let (shard, range, fingerprint) = locate(key)
    return shard.slots.withLock { slots in
      guard let index = range.first(where: { slots[$0].fingerprint == fingerprint }) else { return nil }
      return slots[index].bucket.retryAfter(rate, now: now)
    }
  }

  /// Takes a token of `key`. Returns false if it has none.
  public func take(_ key: RateKey, now: MonotonicTime) -> Bool { take(key, at: rate, now: now) }

  /// Takes a token of `key` at `rate`, which may differ from the rate of earlier calls. Returns false if it has none.
  public func take(_ key: RateKey, at rate: TokenBucket.Rate, now: MonotonicTime) -> Bool {
    withBucket(of: key, rate, now: now) { $0.take(rate, now: now) }
  }

  /// Takes `count` tokens of `key` for work that is already done, even if it has fewer (`TokenBucket.charge`).
  public func charge(_ key: RateKey, _ count: Int, now: MonotonicTime) {
    withBucket(of: key, rate, now: now) { $0.charge(count, rate, now: now) }
  }

  /// Calls `use` with the bucket of `key`. A new key gets a full bucket.
  private func withBucket<Result>(
    of key: RateKey, _ rate: TokenBucket.Rate, now: MonotonicTime, _ use: (inout TokenBucket) -> Result
  ) -> Result {
    let (shard, range, fingerprint) = locate(key)
    return shard.slots.withLock { slots in
      if let index = range.first(where: { slots[$0].fingerprint == fingerprint }) { return use(&slots[index].bucket) }
      var chosen = range.lowerBound
      var most = -Double.infinity
      for index in range {
        // An empty slot is preferred to every bucket.
        let level = slots[index].fingerprint == 0 ? Double.infinity : slots[index].bucket.level(rate, now: now)
        if level > most {
          most = level
          chosen = index
        }
      }
      slots[chosen] = Slot(fingerprint: fingerprint, bucket: TokenBucket(rate, now: now))
      return use(&slots[chosen].bucket)
    }
  }

  /// Puts back a token of `key` that was taken at `rate`, because the action that it permitted did not take place.
  public func giveBack(_ key: RateKey, at rate: TokenBucket.Rate, now: MonotonicTime) {
    let (shard, range, fingerprint) = locate(key)
    shard.slots.withLock { slots in
      guard let index = range.first(where: { slots[$0].fingerprint == fingerprint }) else { return }
      slots[index].bucket.giveBack(rate, now: now)
    }
  }

  /// Returns the shard, the slots of the set and the fingerprint of a key.
  private func locate(_ key: RateKey) -> (Shard, Range<Int>, UInt64) {
    var hasher = Hasher()
    hasher.combine(key)
    let hash = UInt64(truncatingIfNeeded: hasher.finalize())
    let set = Int(truncatingIfNeeded: hash >> 8 % UInt64(clamping: setsPerShard)) * Self.slotsPerSet
    return (
      shards[Int(truncatingIfNeeded: hash % UInt64(clamping: Self.shardCount))], set..<set + Self.slotsPerSet,
      max(hash, 1)
    )
  }
}
