import Reactor
import Time

/// The time limits of one exchange.
///
/// Theory of operation. Before each wait of the exchange, `begin` returns the deadline of the wait. After the wait,
/// `end` returns the limit that was exceeded, if any. The time and the settings are arguments. `clientBytes` returns
/// the number of bytes that the client has sent, or acknowledged once the request is sent. It is called only if needed,
/// because it may make a system call.
///
///     limit      applies                              is exceeded
///     request    always                               `requestTimeout` after the exchange began
///     response   while the response is awaited        `responseTimeout` after the first wait for it
///     progress   while the upstream is awaited        `bodyTimeout` after the wait began; `tunnelTimeout` if both
///                                                     sides of a tunnel are silent
///     stall      while the client is awaited          `bodyTimeout` after the client last sent or received bytes
///     rate       while only the client is awaited     at the end of a window, if the client was slower than
///                                                     `minimumRate` in it
///
/// `ProgressMeter` measures `stall` and `rate`. The two deadlines remain, because each of them ends an exchange in which
/// bytes move: a response may begin late while its interim responses arrive, and a fast client may keep an upstream
/// connection with an endless request. If another protocol was requested or is in use, only `response` and `progress`
/// apply.
struct ExchangeDeadlines {
  /// The settings from which the deadlines are computed. They are read for each wait, because a reload can change them
  /// during the exchange.
  struct Settings {
    var progress: ProgressMeter.Limits
    /// The maximum time without bytes of a tunnel in which no received bytes wait for one side to accept them.
    var tunnelTimeout: Milliseconds
    var responseTimeout: Milliseconds
  }

  private let requestDeadline: Deadline
  /// The deadline for the start of the response; `nil` before the first wait for it.
  private var responseStartDeadline: Deadline?
  private var meter = ProgressMeter()
  /// True if `meter` measures the bytes that the client sends, false if it measures those that the client receives.
  private var measuresUpload = false
  /// The deadline of the limit `response` or `progress` in this wait.
  private var progressDeadline = Deadline.never

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
    let isUploading = state.isUploading
    progressDeadline =
      isUploading || state.hasResponse ? now + timeout(of: state, settings) : responseDeadline(settings, now)
    if state.isSwitching {
      meter.stop()
      return progressDeadline
    }
    if measuresUpload != isUploading {
      measuresUpload = isUploading
      meter = ProgressMeter()
    }
    let isClientAwaited = state.isBlockedByClient || state.awaitsRequest
    meter.update(isAwaited: isClientAwaited, now: now, count: clientBytes)
    if isClientAwaited { progressDeadline = .never }
    return min(
      progressDeadline, requestDeadline, meter.beginWait(settings.progress, isAwaited: isClientAwaited, now: now))
  }

  /// Returns the maximum time of a wait in which no response is awaited.
  private func timeout(of state: ExchangeState, _ settings: Settings) -> Milliseconds {
    state.isQuietTunnel && !state.clientLeftTunnel ? settings.tunnelTimeout : settings.progress.timeout
  }

  private mutating func responseDeadline(_ settings: Settings, _ now: MonotonicTime) -> Deadline {
    let deadline = responseStartDeadline ?? now + settings.responseTimeout
    responseStartDeadline = deadline
    return deadline
  }

  /// Returns false if no limit can have been exceeded in the wait, so that `end` need not be called.
  func mayHaveExceededLimit(_ wake: Wake) -> Bool { meter.isRunning || wake == .timedOut }

  /// Ends the wait and returns the limit that was exceeded; `nil` if the exchange continues.
  ///
  /// - Parameter unit: returns the step in which the acknowledged bytes are counted (`Socket.acknowledgementUnit`).
  mutating func end(
    _ wake: Wake, _ state: ExchangeState, _ settings: Settings, now: MonotonicTime, clientBytes: () -> Int,
    unit: () -> Int
  ) -> ExchangeState.Limit? {
    let isUpload = measuresUpload
    let unit = { isUpload ? 0 : unit() }
    if meter.isTooSlow(settings.progress, now: now, count: clientBytes, unit: unit) { return .rate }
    guard wake == .timedOut else { return nil }
    if requestHasTimedOut(state, now: now) { return .request }
    if meter.hasStalled(settings.progress, now: now, count: clientBytes, unit: unit) { return .stall }
    return progressDeadline.hasPassed(at: now) ? .progress : nil
  }

  /// Returns true if the request as a whole takes too long.
  func requestHasTimedOut(_ state: ExchangeState, now: MonotonicTime) -> Bool {
    !state.isSwitching && requestDeadline.hasPassed(at: now)
  }
}
