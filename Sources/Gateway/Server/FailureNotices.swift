import HTTP
import Proxy
import Reactor
import Synchronization
import Time

/// Tells the operator why requests failed: one line for each failed request, at most five a minute for each reason. The
/// first line after that has the number of those that were not shown.
final class FailureNotices: Sendable {
  private struct Count: Sendable {
    /// The start of the minute.
    var began: MonotonicTime
    var shown = 0
    var suppressed = 0
  }

  private let notices: OperatorNotices
  private let counts = Mutex<[String: Count]>([:])
  private static let interval: Milliseconds = 60_000
  private static let linesPerInterval = 5
  /// The maximum number of different reasons. There are fewer; the limit bounds the memory in any case.
  private static let maximumReasons = 256

  init(_ notices: OperatorNotices) {
    self.notices = notices
  }

  /// Shows a failed request.
  ///
  /// - Parameters:
  ///   - id: The id of the request.
  ///   - clock: Called while no other call can store a time, so that a stored time is never later.
  func report(_ report: FailureReport, id: String, clock: () -> MonotonicTime = SystemClock.monotonicTime) {
    let reason = "\(report.status ?? -1) \(report.reason)"
    guard let suppressed = admit(reason, clock) else { return }
    let others = suppressed == 0 ? "" : "; \(suppressed) more of these in the last minutes were not shown"
    notices.show(FailureNotices.text(report, id: id) + others)
  }

  /// Returns the number of requests with this reason that were not shown since the last one; `nil` if this one is not
  /// shown either.
  private func admit(_ reason: String, _ clock: () -> MonotonicTime) -> Int? {
    counts.withLock { counts in
      let now = clock()
      if counts.count >= FailureNotices.maximumReasons, counts[reason] == nil {
        counts = counts.filter { now - $0.value.began < FailureNotices.interval }
        guard counts.count < FailureNotices.maximumReasons else { return nil }
      }
      var count = counts[reason] ?? Count(began: now)
      defer { counts[reason] = count }
      if now - count.began >= FailureNotices.interval {
        count.began = now
        count.shown = 0
      }
      guard count.shown < FailureNotices.linesPerInterval else {
        count.suppressed += 1
        return nil
      }
      count.shown += 1
      defer { count.suppressed = 0 }
      return count.suppressed
    }
  }

  /// Returns the line, such as `502 for GET /a from 192.0.2.1 (request 0f3c...): a folded header line`.
  static func text(_ report: FailureReport, id: String) -> String {
    let outcome =
      switch report.status {
      case 0: "cut response"
      case nil: "a request to the upstream failed"
      case .some(let status): "\(status)"
      }
    let request = report.request
    let line = request.method.map { " for \($0)\(request.path.map { " \($0)" } ?? "")" } ?? ""
    return "\(outcome)\(line) from \(request.peer) (request \(id)): \(report.reason)"
  }
}
