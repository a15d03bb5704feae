import Reactor
import Time

/// Measures the progress of a client: the number of bytes that it has sent, or received.
///
/// Theory of operation. Two limits apply while the gateway waits for the client. Both compare the same count, which
/// grows with each byte that the client has sent or received:
///
///     limit   is exceeded
///     stall   if the count has not grown for `timeout`
///     rate    if the count has grown by less than `rate` during a window, which counts only the time of waits
///
/// For bytes that a client receives, the count is that of acknowledged bytes, because the kernel makes room for more
/// bytes from time to time even if the client receives nothing. No event reports acknowledgements, so the count is
/// polled. A window is long enough for a link to stall and recover.
///
/// If the count grows only in large steps (`unit`), a client is late only if it misses more than one step. So the
/// stalled client has the time that one step takes at the minimum rate in addition, and a window is extended until the
/// missing bytes exceed a step.
///
/// `count` returns the count and `unit` the size of a step. They are called only if needed, because they make system
/// calls.
struct ProgressMeter {
  struct Limits {
    var timeout: Milliseconds
    /// In bytes per second; 0 for no minimum.
    var rate: Int
    var window: Milliseconds
  }

  /// The minimum number of polls within the timeout.
  private static let pollsPerTimeout = 4

  /// The time since which no progress was seen; `nil` if the client has nothing to send or to receive.
  private var lastProgress: MonotonicTime?
  /// The count at the time `lastProgress`.
  private var lastCount = 0
  /// The time that was spent waiting in this window.
  private var waited: Milliseconds = 0
  /// The count at the start of the window; `nil` before the first wait.
  private var countAtWindowStart: Int?
  /// The number of times that the window was extended.
  private var extensions: Milliseconds = 0
  /// The start of the wait in progress; `nil` if its time does not count for the rate.
  private var waitBegan: MonotonicTime?

  /// True while progress is awaited, or was awaited and has not been seen yet.
  var isRunning: Bool { lastProgress != nil }

  /// Records whether the gateway can continue only after the client has sent or received bytes.
  mutating func update(isAwaited: Bool, now: MonotonicTime, count: () -> Int) {
    guard isAwaited || isRunning else { return }
    let current = count()
    if isRunning, current <= lastCount { return }
    lastProgress = isAwaited ? now : nil
    lastCount = current
  }

  /// Records that no progress is expected, because other limits apply.
  mutating func stop() {
    lastProgress = nil
    waitBegan = nil
  }

  /// Begins a wait. Returns the time by which the meter must be asked again; `.never` if it is not running.
  ///
  /// - Parameter isAwaited: true if only the client can end the wait, so that the time counts for its rate.
  mutating func beginWait(_ limits: Limits, isAwaited: Bool, now: MonotonicTime) -> Deadline {
    waitBegan = nil
    guard let lastProgress else { return .never }
    let poll = now + limits.timeout / ProgressMeter.pollsPerTimeout
    let stall = lastProgress + limits.timeout
    let next = stall > now ? min(stall, poll) : poll
    guard isAwaited, limits.rate > 0 else { return next }
    waitBegan = now
    if countAtWindowStart == nil { countAtWindowStart = lastCount }
    return min(next, now + max(0, windowEnd(limits) - waited))
  }

  private func windowEnd(_ limits: Limits) -> Milliseconds { limits.window + extensions }

  /// Ends a wait. Returns true if a window has ended in which the client was too slow.
  mutating func isTooSlow(_ limits: Limits, now: MonotonicTime, count: () -> Int, unit: () -> Int) -> Bool {
    guard let began = waitBegan else { return false }
    waitBegan = nil
    waited += now - began
    guard waited >= windowEnd(limits) else { return false }
    let current = count()
    let missing = waited.amount(perSecond: limits.rate) - (current - (countAtWindowStart ?? 0))
    if missing > 0 {
      if missing > unit() { return true }
      extensions += limits.window
      return false
    }
    countAtWindowStart = current
    waited = 0
    extensions = 0
    return false
  }

  /// Returns true if the client has made no progress for too long.
  func hasStalled(_ limits: Limits, now: MonotonicTime, count: () -> Int, unit: () -> Int) -> Bool {
    guard let lastProgress, lastProgress + limits.timeout <= now, count() <= lastCount else { return false }
    let step = limits.rate > 0 ? Milliseconds(for: unit(), perSecond: limits.rate) : 0
    return lastProgress + limits.timeout + step <= now
  }
}
