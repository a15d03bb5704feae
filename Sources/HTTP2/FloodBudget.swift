/// What a client may still cost without having asked for anything: two buckets that fill up with time.
struct FloodBudget {
  private struct Bucket {
    let capacity: Int
    let perSecond: Int
    /// In thousandths, so that it fills up smoothly.
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

    /// False when there is nothing left.
    mutating func spend() -> Bool {
      level -= 1000
      return level >= 0
    }
  }

  private var resets: Bucket
  private var control: Bucket
  private var updated: UInt64?
  /// A request brings a WINDOW_UPDATE or two and perhaps a PRIORITY; each DATA frame two WINDOW_UPDATEs.
  private static let earnings = 4_000

  init(_ limits: HTTP2Limits) {
    resets = Bucket(capacity: limits.resets, perSecond: limits.resetsPerSecond)
    control = Bucket(capacity: limits.controlFrames, perSecond: limits.controlFramesPerSecond)
  }

  /// Moves time to `now`, in monotonic milliseconds.
  mutating func advance(to now: UInt64) {
    if let updated, now > updated {
      // An hour fills every bucket.
      let passed = Int(min(now - updated, 3_600_000))
      resets.fill(milliseconds: passed)
      control.fill(milliseconds: passed)
    }
    updated = max(now, updated ?? 0)
  }

  /// A request or a DATA frame: control frames belong to it.
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
