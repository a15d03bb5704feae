/// The decisions over time and by client, for the status page. They are not part of `MetricsSnapshot`, because a
/// monitoring system that reads the metrics keeps the numbers of earlier minutes itself.
public struct DecisionActivity: Sendable {
  /// The number of minutes for which decisions are kept.
  public static let minutes = DecisionMinutes.count

  /// The decisions of the latest minutes, by the number of the minute. Minutes without decisions are left out, and some
  /// may be older than ``minutes``.
  public internal(set) var recent: [Int64: DecisionMinute] = [:]
  /// The clients, by id: at most 1,000 that the policy lists, and 100 others.
  public internal(set) var clients: [String: ClientUse] = [:]
  /// The number of requests of further clients.
  public internal(set) var omittedRequests: UInt64 = 0

  /// Returns the decisions of the `count` minutes that end with `last`, in order, with a value for each minute.
  public func series(endingAt last: Int64, count: Int = minutes) -> [DecisionMinute] {
    (last - Int64(count) + 1...last).map { recent[$0] ?? DecisionMinute(minute: $0) }
  }
}
