public import Time

/// The numbers of decisions in one minute, by their kind.
public struct DecisionMinute: Hashable, Sendable {
  /// The minute, as a number of minutes since 1970.
  public let minute: Int64
  /// The number of requests that were not refused.
  public internal(set) var forwarded: UInt64 = 0
  /// The number of requests that a rule refused.
  public internal(set) var rejected: UInt64 = 0
  /// The number of requests that were forwarded in observe mode, although enforce mode would have refused them.
  public internal(set) var wouldReject: UInt64 = 0
  /// The number of observed redemptions for which not all rules could be evaluated.
  public internal(set) var notObservable: UInt64 = 0

  /// Creates a minute without decisions.
  public init(minute: Int64) { self.minute = minute }

  mutating func add(_ decision: DecisionKind) {
    switch decision {
    case .forward: forwarded += 1
    case .reject: rejected += 1
    case .wouldReject: wouldReject += 1
    case .notObservable: notObservable += 1
    }
  }

  static func += (left: inout DecisionMinute, right: DecisionMinute) {
    left.forwarded += right.forwarded
    left.rejected += right.rejected
    left.wouldReject += right.wouldReject
    left.notObservable += right.notObservable
  }

  /// Returns the number of the minute that contains a point in time.
  public static func number(of time: Timestamp) -> Int64 { time.milliseconds / 60_000 }
}

/// The decisions of the latest minutes. The memory is reserved once, and a decision only changes its own minute, so no
/// timer is needed.
struct DecisionMinutes: Sendable {
  /// The number of minutes.
  static let count = 120

  /// The minute with the number `n` is at index `n % count`, until a later minute with the same index replaces it.
  private var slots = [DecisionMinute](repeating: DecisionMinute(minute: -1), count: DecisionMinutes.count)

  mutating func add(_ decision: DecisionKind, at time: Timestamp) {
    let minute = max(0, DecisionMinute.number(of: time))
    let index = Int(minute % Int64(DecisionMinutes.count))
    if slots[index].minute != minute { slots[index] = DecisionMinute(minute: minute) }
    slots[index].add(decision)
  }

  /// The minutes with decisions, in no order. Some may be older than `count` minutes.
  var recorded: [DecisionMinute] { slots.filter { $0.minute >= 0 } }
}
