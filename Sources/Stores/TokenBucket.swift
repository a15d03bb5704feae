/// A budget that refills steadily: so many at once, so many over time.
public struct TokenBucket: Hashable, Sendable {
  /// The size of a bucket and the rate at which it refills.
  public struct Rate: Hashable, Sendable {
    public let burst: Int
    /// Tokens that come back in 60 seconds.
    public let perMinute: Int

    public init(burst: Int, perMinute: Int) {
      precondition(burst > 0 && perMinute > 0, "a bucket that never has a token refuses everything")
      self.burst = burst
      self.perMinute = perMinute
    }
  }

  /// As of `updated`.
  private var tokens: Double
  /// Milliseconds on a clock that does not jump.
  private var updated: Int64

  /// A full bucket.
  public init(_ rate: Rate, now: Int64) {
    tokens = Double(rate.burst)
    updated = now
  }

  /// The tokens there are at `now`, in milliseconds.
  public func level(_ rate: Rate, now: Int64) -> Double {
    min(Double(rate.burst), tokens + Double(max(0, now - updated)) * Double(rate.perMinute) / 60_000)
  }

  /// Takes a token if there is one.
  public mutating func take(_ rate: Rate, now: Int64) -> Bool {
    tokens = level(rate, now: now)
    updated = max(updated, now)
    guard tokens >= 1 else { return false }
    tokens -= 1
    return true
  }

  /// Seconds until there is a token, for `Retry-After`; `nil` if there is one.
  public func retryAfter(_ rate: Rate, now: Int64) -> Int? {
    let missing = 1 - level(rate, now: now)
    guard missing > 0 else { return nil }
    return max(1, Int((missing * 60 / Double(rate.perMinute)).rounded(.up)))
  }
}
