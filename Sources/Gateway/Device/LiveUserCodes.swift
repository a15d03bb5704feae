import OAuth
import Synchronization
import Time

/// Counts the user codes that this process has issued and that have not expired. While there are many of them, the
/// probability that a guess finds one would be too high (RFC 8628, section 5.1), so new codes get more letters.
final class LiveUserCodes: Sendable {
  /// The number of live codes of usual length that all replicas together may issue. `docs/threat-model.md` computes the
  /// probability of a right guess from it.
  static let maximumOfUsualLength = 10_000
  /// The width of a slot in seconds. All codes of a slot count as live until its end.
  private static let slotWidth: Int64 = 30

  /// The number of codes by the slot in which they expire. A code lives for half an hour at most, so there are at most
  /// 61 slots.
  private let counts = Mutex<[Int64: Int]>([:])

  /// Counts a new code, and returns the number of letters that it must have.
  ///
  /// - Parameter replicas: The number of gateways that share the store. Each of them may issue its part of the codes.
  func nextLength(expiry: UnixTime, replicas: Int, now: UnixTime) -> Int {
    counts.withLock { counts in
      counts = counts.filter { ($0.key + 1) * LiveUserCodes.slotWidth > now.seconds }
      let live = counts.values.reduce(0, +)
      counts[expiry.seconds / LiveUserCodes.slotWidth, default: 0] += 1
      return live < LiveUserCodes.maximumOfUsualLength / max(1, replicas)
        ? UserCode.usualLength : UserCode.extendedLength
    }
  }
}
