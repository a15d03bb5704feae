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
      // A unit a second is a thousandth of a unit in each millisecond.
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
  /// The number of control frames, in thousandths, that a HEADERS frame, or a DATA frame with content, adds to the
  /// budget. With a request, clients send up to two WINDOW_UPDATEs and a PRIORITY; for a DATA frame of a response, two
  /// WINDOW_UPDATEs.
  private static let thousandthsPerFrame = 4_000

  init(_ limits: HTTP2Limits) {
    resets = Bucket(capacity: limits.streamResets, perSecond: limits.resetsPerSecond)
    controlFrames = Bucket(capacity: limits.controlFrames, perSecond: limits.controlFramesPerSecond)
  }

  /// Advances time to `now`.
  mutating func advance(to now: MonotonicTime) {
    if let lastUpdate, now > lastUpdate {
      // An hour is enough to fill both buckets.
      let passed = min(now - lastUpdate, 3_600_000)
      resets.fill(after: passed)
      controlFrames.fill(after: passed)
    }
    lastUpdate = max(now, lastUpdate ?? 0)
  }

  /// Adds the control frames that clients send together with a HEADERS or DATA frame, or in response to one.
  mutating func addControlFrames() {
    controlFrames.add(thousandths: FloodBudget.thousandthsPerFrame)
  }

  mutating func spendReset() throws(HTTP2Failure) {
    guard resets.spend() else { throw .flood(.resets) }
  }

  mutating func spendControlFrame() throws(HTTP2Failure) {
    guard controlFrames.spend() else { throw .flood(.controlFrames) }
  }
}
