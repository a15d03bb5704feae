internal import Time

/// The number of stream resets and of control frames that are still allowed on a connection. Each number is a token
/// bucket that fills with time. A control frame is a frame that carries no part of a request.
struct FloodBudget {
  private struct Bucket {
    let capacity: Int
    let perSecond: Int
    /// The number of available units, in thousandths of a unit, so that a millisecond can add less than a unit.
    private var thousandths: Int

    init(capacity: Int, perSecond: Int) {
      self.capacity = capacity
      self.perSecond = perSecond
      thousandths = capacity * 1000
    }

    mutating func fill(after time: Milliseconds) {
      // One unit per second equals one thousandth of a unit per millisecond.
      add(thousandths: time.count.multipliedReportingOverflow(by: perSecond).partialValue)
    }

    mutating func add(thousandths amount: Int) {
      thousandths = min(capacity * 1000, thousandths + max(0, amount))
    }

    /// Spends one unit. Returns false if less than one unit was available.
    mutating func spend() -> Bool {
      thousandths -= 1000
      return thousandths >= 0
    }
  }

  private var resets: Bucket
  private var controlFrames: Bucket
  /// The time of the latest `advance`; `nil` before the first.
  private var lastUpdate: MonotonicTime?
  /// The number of additional control frames, in thousandths, that each HEADERS frame and each DATA frame with content
  /// allows. Clients send up to two WINDOW_UPDATEs and a PRIORITY with a request, and two WINDOW_UPDATEs in response to
  /// a DATA frame.
  private static let thousandthsPerFrame = 4_000

  init(_ limits: HTTP2Limits) {
    resets = Bucket(capacity: limits.streamResets, perSecond: limits.resetsPerSecond)
    controlFrames = Bucket(capacity: limits.controlFrames, perSecond: limits.controlFramesPerSecond)
  }

  /// Adds the resets and control frames for the time that has passed since the last call.
  mutating func advance(to now: MonotonicTime) {
    if let lastUpdate, now > lastUpdate {
      // An hour is enough to fill both buckets.
      let passed = min(now - lastUpdate, 3_600_000)
      resets.fill(after: passed)
      controlFrames.fill(after: passed)
    }
    lastUpdate = max(now, lastUpdate ?? 0)
  }

  /// Allows the control frames that clients send together with a HEADERS or DATA frame, or in response to one.
  mutating func allowMoreControlFrames() {
    controlFrames.add(thousandths: FloodBudget.thousandthsPerFrame)
  }

  mutating func spendReset() throws(HTTP2Failure) {
    guard resets.spend() else { throw .flood(.resets) }
  }

  mutating func spendControlFrame() throws(HTTP2Failure) {
    guard controlFrames.spend() else { throw .flood(.controlFrames) }
  }
}
