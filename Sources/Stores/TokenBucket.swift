public import Time

/// A token bucket, which permits a burst of requests and then a steady rate. Each request takes one token.
public struct TokenBucket: Hashable, Sendable {
  /// The size of a bucket and the rate at which it refills.
  public struct Rate: Hashable, Sendable {
    /// The size of the bucket: the number of tokens that can be taken at once.
    public let burst: Int
    /// The number of tokens that are added in 60 seconds.
    public let perMinute: Int

    /// Creates a rate. Both numbers must be positive.
    public init(burst: Int, perMinute: Int) {
      precondition(burst > 0 && perMinute > 0, "burst and rate of a bucket must be positive")
      self.burst = burst
      self.perMinute = perMinute
    }
  }

  /// The number of tokens at `updated`.
  private var tokens: Double
  /// The time of the last change.
  private var updated: MonotonicTime

  /// Creates a full bucket.
  public init(_ rate: Rate, now: MonotonicTime) {
    tokens = Double(rate.burst)
    updated = now
  }

  /// Returns the number of tokens at `now`.
  public func level(_ rate: Rate, now: MonotonicTime) -> Double {
    // Another worker may have taken a token since the caller read the clock.
    let passed = now > updated ? now - updated : 0
    return min(Double(rate.burst), tokens + Double(passed.count) * Double(rate.perMinute) / 60_000)
  }

  /// Takes a token. Returns false if the bucket is empty.
  public mutating func take(_ rate: Rate, now: MonotonicTime) -> Bool {
    tokens = level(rate, now: now)
    updated = max(updated, now)
    guard tokens >= 1 else { return false }
    tokens -= 1
    return true
  }

  /// Takes tokens for work that is already done, even if the bucket has fewer. The debt is at most one burst, so that the
  /// bucket has a token again within twice the time in which it refills.
  public mutating func charge(_ count: Int, _ rate: Rate, now: MonotonicTime) {
    tokens = max(-Double(rate.burst), level(rate, now: now) - Double(max(0, count)))
    updated = max(updated, now)
  }

  /// Puts back a token, because the operation for which it was taken was not performed.
  public mutating func giveBack(_ rate: Rate, now: MonotonicTime) {
    tokens = min(Double(rate.burst), level(rate, now: now) + 1)
    updated = max(updated, now)
  }

  /// Returns the time until there is a token, for `Retry-After`; `nil` if there is one now.
  public func retryAfter(_ rate: Rate, now: MonotonicTime) -> Seconds? {
    let missing = 1 - level(rate, now: now)
    guard missing > 0 else { return nil }
    return max(1, Seconds(Int((missing * 60 / Double(rate.perMinute)).rounded(.up))))
  }
}
