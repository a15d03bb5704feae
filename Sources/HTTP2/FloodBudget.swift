internal import Time

/// The number of resets and of control frames (frames that carry no part of a request) that are still allowed on a
/// connection: two token buckets that fill with time.
struct FloodBudget {
  private struct Bucket {
    let capacity: Int
    let perSecond: Int
    /// The number of available units in thousandths, so that it grows smoothly.
    private var level: Int

    init(capacity: Int, perSecond: Int) {
      self.capacity = capacity
      self.perSecond = perSecond
      level = capacity * 1000
    }

    mutating func fill(after time: Milliseconds) {
      // A unit a second is a thousandth of a unit in each millisecond.
      earn(thousandths: time.count.multipliedReportingOverflow(by: perSecond).partialValue)
    }

    mutating func earn(thousandths: Int) {
      level = min(capacity * 1000, level + max(0, thousandths))
    }

    /// Spends one unit. Returns false if less than one unit was available.
    mutating func spend() -> Bool {
      level -= 1000
      return level >= 0
    }
  }

  private var resets: Bucket
  private var control: Bucket
  private var updated: MonotonicTime?
  /// The number of control frames, in thousandths, that each HEADERS or DATA frame in either direction earns: a request
  /// comes with a WINDOW_UPDATE or two and perhaps a PRIORITY, a DATA frame with two WINDOW_UPDATEs.
  private static let earnings = 4_000

  init(_ limits: HTTP2Limits) {
    resets = Bucket(capacity: limits.streamResets, perSecond: limits.resetsPerSecond)
    control = Bucket(capacity: limits.controlFrames, perSecond: limits.controlFramesPerSecond)
  }

  /// Advances time to `now`.
  mutating func advance(to now: MonotonicTime) {
    if let updated, now > updated {
      // An hour is enough to fill both buckets.
      let passed = min(now - updated, 3_600_000)
      resets.fill(after: passed)
      control.fill(after: passed)
    }
    updated = max(now, updated ?? 0)
  }

  /// Credits the control frames that belong to a HEADERS or DATA frame.
  mutating func earnControlFrames() {
    control.earn(thousandths: FloodBudget.earnings)
  }

  mutating func spendReset() throws(HTTP2Failure) {
    guard resets.spend() else { throw .flood(.resets) }
  }

  mutating func spendControlFrame() throws(HTTP2Failure) {
    guard control.spend() else { throw .flood(.controlFrames) }
  }
}
