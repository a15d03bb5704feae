/// The remaining allowance of a client for frames that no request justifies: two buckets that fill with time.
struct FloodBudget {
  private struct Bucket {
    let capacity: Int
    let perSecond: Int
    /// The level in thousandths, so that it fills smoothly.
    private var level: Int

    init(capacity: Int, perSecond: Int) {
      self.capacity = capacity
      self.perSecond = perSecond
      level = capacity * 1000
    }

    mutating func fill(milliseconds: Int) {
      earn(thousandths: milliseconds.multipliedReportingOverflow(by: perSecond).partialValue)
    }

    mutating func earn(thousandths: Int) {
      level = min(capacity * 1000, level + max(0, thousandths))
    }

    /// Spends one unit. Returns false if the bucket is empty.
    mutating func spend() -> Bool {
      level -= 1000
      return level >= 0
    }
  }

  private var resets: Bucket
  private var control: Bucket
  private var updated: UInt64?
  /// The control frames, in thousandths, that each request and DATA frame earns: a request comes with a WINDOW_UPDATE
  /// or two and perhaps a PRIORITY, a DATA frame with two WINDOW_UPDATEs.
  private static let earnings = 4_000

  init(_ limits: HTTP2Limits) {
    resets = Bucket(capacity: limits.resets, perSecond: limits.resetsPerSecond)
    control = Bucket(capacity: limits.controlFrames, perSecond: limits.controlFramesPerSecond)
  }

  /// Advances time to `now`, in monotonic milliseconds.
  mutating func advance(to now: UInt64) {
    if let updated, now > updated {
      // An hour fills every bucket.
      let passed = Int(min(now - updated, 3_600_000))
      resets.fill(milliseconds: passed)
      control.fill(milliseconds: passed)
    }
    updated = max(now, updated ?? 0)
  }

  /// Credits the control frames that belong to a request or a DATA frame.
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
