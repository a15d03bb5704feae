import Reactor
import Time

/// The limits in time of one exchange.
///
/// Theory of operation. Before each wait of the exchange `begin` returns when it must end at the latest, and after it `end`
/// says which limit was met, if any. Time and limits are arguments. `taken` counts the bytes that the client
/// has given and taken; it is called only where the count matters, because it asks the kernel.
///
///     limit      applies while                                     until
///     request    always, except for another protocol               `requestTimeout` after the head
///     progress   always                                            `responseTimeout` after the request was sent, while
///                                                                  no response has begun; else `bodyTimeout` after
///                                                                  the wait began
///     stall      something waits for the client to take it         `bodyTimeout` after it last took something
///     rate       only the client can go on                         the end of a window of `rateWindow`
struct ExchangeDeadlines {
  /// The settings that the deadlines come from. They are read for each use, because a reload can change them during the
  /// exchange.
  struct Settings {
    var bodyTimeout: Milliseconds
    var responseTimeout: Milliseconds
    /// Bytes a second.
    var minimumRate: Int
    var rateWindow: Milliseconds
  }

  private let request: Deadline
  private var response: Deadline?
  private var stall = WriteStallDetector()
  private var pace = MinimumRateMeter()
  // The wait in progress.
  private var began: MonotonicTime = 0
  private var progress = Deadline.never
  private var isPaced = false

  init(requestTimeout: Milliseconds, now: MonotonicTime) {
    request = now + requestTimeout
  }

  /// Begins to measure the time to a response again: the request is sent once more.
  mutating func restart() {
    response = nil
  }

  /// Begins a wait and returns when it ends at the latest.
  mutating func begin(
    _ state: ExchangeState, _ settings: Settings, now: MonotonicTime, taken: () -> Int
  ) -> Deadline {
    let timeout = settings.bodyTimeout
    let isBlocked = state.isBlockedDown
    began = now
    isPaced = false
    if state.isSwitching { stall.end() } else { stall.note(isBlocked: isBlocked, now: now, taken: taken) }
    progress = state.isUploading || state.hasResponse ? now + timeout : responseDeadline(settings, now)
    if stall.isRunning { progress = isBlocked ? stall.deadline(timeout) : min(progress, stall.deadline(timeout)) }
    guard !state.isSwitching else { return progress }
    let end = min(progress, request, stall.nextLook(timeout, now: now))
    guard isBlocked || state.awaitsRequest, settings.minimumRate > 0 else { return end }
    isPaced = true
    pace.begin(moved: taken)
    return min(end, now + pace.left(window: settings.rateWindow))
  }

  private mutating func responseDeadline(_ settings: Settings, _ now: MonotonicTime) -> Deadline {
    let deadline = response ?? now + settings.responseTimeout
    response = deadline
    return deadline
  }

  /// False if the end of the wait shows already that no limit was met.
  func mayBeMet(_ wake: Wake) -> Bool { isPaced || wake == .timedOut }

  /// Ends the wait and returns the limit that was met; `nil` if the exchange goes on.
  mutating func end(
    _ wake: Wake, _ state: ExchangeState, _ settings: Settings, now: MonotonicTime, taken: () -> Int
  ) -> ExchangeState.Limit? {
    if isPaced,
      !pace.keeps(settings.minimumRate, window: settings.rateWindow, waited: now - began, moved: taken)
    {
      return .rate
    }
    guard wake == .timedOut else { return nil }
    if isOver(state, now: now) { return .request }
    let timeout = settings.bodyTimeout
    if stall.deadline(timeout).hasPassed(at: now) {
      return stall.isOver(timeout, now: now, taken: taken) ? .stall : nil
    }
    return progress.hasPassed(at: now) ? .progress : nil
  }

  /// True if the request as a whole takes too long.
  func isOver(_ state: ExchangeState, now: MonotonicTime) -> Bool {
    !state.isSwitching && request.hasPassed(at: now)
  }
}
