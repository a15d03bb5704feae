import Reactor
import Time

/// The time limits of one exchange.
///
/// Theory of operation. Before each wait of the exchange, `begin` returns the deadline of the wait. After the wait,
/// `end` returns the limit that was exceeded, if any. The time and the settings are arguments. `clientBytes` returns
/// the number of bytes that the client has sent or acknowledged; it is called only if needed, because it makes a system
/// call.
///
///     limit      applies                              is exceeded
///     request    always                               `requestTimeout` after the exchange began
///     progress   unless bytes wait for the client     `responseTimeout` after the first wait for a response; or
///                                                     `bodyTimeout` after the wait began, if the request is still
///                                                     being sent or the response has begun
///     stall      while bytes wait for the client      `bodyTimeout` after the client last received some of them
///     rate       while only the client can continue   at the end of a window of `rateWindow`, if the client was
///                                                     slower than `minimumRate` in it
///
/// If another protocol was requested or is in use, only `progress` applies.
struct ExchangeDeadlines {
  /// The settings from which the deadlines are computed. They are read for each wait, because a reload can change them
  /// during the exchange.
  struct Settings {
    var bodyTimeout: Milliseconds
    var responseTimeout: Milliseconds
    /// In bytes per second; 0 for no minimum.
    var minimumRate: Int
    var rateWindow: Milliseconds
  }

  private let requestDeadline: Deadline
  /// The deadline for the start of the response; `nil` before the first wait for it.
  private var responseStartDeadline: Deadline?
  private var stall = WriteStallDetector()
  private var rateMeter = MinimumRateMeter()
  /// The start of the wait in progress.
  private var began: MonotonicTime = 0
  /// The deadline of the limit `progress` in this wait.
  private var progressDeadline = Deadline.never
  /// True if the limit `rate` applies to this wait.
  private var measuresRate = false

  init(requestTimeout: Milliseconds, now: MonotonicTime) {
    requestDeadline = now + requestTimeout
  }

  /// Restarts the response timeout, because the request is sent again.
  mutating func restartResponseTimeout() {
    responseStartDeadline = nil
  }

  /// Begins a wait and returns its deadline.
  mutating func begin(
    _ state: ExchangeState, _ settings: Settings, now: MonotonicTime, clientBytes: () -> Int
  ) -> Deadline {
    let timeout = settings.bodyTimeout
    let isBlocked = state.isBlockedByClient
    began = now
    measuresRate = false
    if state.isSwitching { stall.end() } else { stall.update(isBlocked: isBlocked, now: now, clientBytes: clientBytes) }
    progressDeadline =
      state.isUploading || state.hasResponse ? now + timeout : responseDeadline(settings, now)
    if stall.isRunning {
      progressDeadline = isBlocked ? stall.deadline(timeout) : min(progressDeadline, stall.deadline(timeout))
    }
    guard !state.isSwitching else { return progressDeadline }
    let end = min(progressDeadline, requestDeadline, stall.nextCheck(timeout, now: now))
    guard isBlocked || state.awaitsRequest, settings.minimumRate > 0 else { return end }
    measuresRate = true
    rateMeter.begin(moved: clientBytes)
    return min(end, now + rateMeter.remainingTime(window: settings.rateWindow))
  }

  private mutating func responseDeadline(_ settings: Settings, _ now: MonotonicTime) -> Deadline {
    let deadline = responseStartDeadline ?? now + settings.responseTimeout
    responseStartDeadline = deadline
    return deadline
  }

  /// Returns false if no limit can have been exceeded in the wait, so that `end` need not be called.
  func mayHaveExceededLimit(_ wake: Wake) -> Bool { measuresRate || wake == .timedOut }

  /// Ends the wait and returns the limit that was exceeded; `nil` if the exchange continues.
  mutating func end(
    _ wake: Wake, _ state: ExchangeState, _ settings: Settings, now: MonotonicTime, clientBytes: () -> Int
  ) -> ExchangeState.Limit? {
    if measuresRate,
      !rateMeter.endWait(
        minimumRate: settings.minimumRate, window: settings.rateWindow, waited: now - began, moved: clientBytes)
    {
      return .rate
    }
    guard wake == .timedOut else { return nil }
    if requestHasTimedOut(state, now: now) { return .request }
    let timeout = settings.bodyTimeout
    if stall.deadline(timeout).hasPassed(at: now) {
      return stall.hasTimedOut(timeout, now: now, clientBytes: clientBytes) ? .stall : nil
    }
    return progressDeadline.hasPassed(at: now) ? .progress : nil
  }

  /// Returns true if the request as a whole takes too long.
  func requestHasTimedOut(_ state: ExchangeState, now: MonotonicTime) -> Bool {
    !state.isSwitching && requestDeadline.hasPassed(at: now)
  }
}
