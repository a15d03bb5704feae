internal import Synchronization

/// Notices a code challenge that comes from two browsers: an app whose verifiers are not random (RFC 9700, section
/// 2.1.1).
///
/// The memory is fixed: 16 bytes for each of `capacity` places. A newer challenge takes an older one's place, so a flood
/// makes it forget and nothing else; where challenges land depends on a seed that differs in every process.
public final class RecentChallenges: Sendable {
  private struct Place: Sendable {
    /// 64 bits stand for the values: of a keyed hash, as clients choose challenges, and of the browser's own hash. 0 is an
    /// empty place.
    var challenge: UInt64 = 0
    var browser: UInt64 = 0
  }

  private let places: Mutex<[Place]>
  private let capacity: Int

  public init(capacity: Int = 16_384) {
    precondition(capacity > 0, "no room to remember anything")
    self.capacity = capacity
    places = Mutex([Place](repeating: Place(), count: capacity))
  }

  /// True if the challenge was seen from another browser before. It is remembered as this one's now.
  /// - Parameter browser: a hash that distinguishes browsers; its first 8 bytes count.
  public func isRepeated(_ challenge: String, from browser: [UInt8]) -> Bool {
    let mark = RecentChallenges.mark(challenge)
    let place = Place(challenge: mark, browser: browser.prefix(8).reduce(0) { $0 << 8 | UInt64($1) })
    return places.withLock { places in
      let index = Int(mark % UInt64(capacity))
      let before = places[index]
      places[index] = place
      return before.challenge == mark && before.browser != place.browser
    }
  }

  private static func mark(_ challenge: String) -> UInt64 {
    var hasher = Hasher()
    hasher.combine(challenge)
    return max(1, UInt64(truncatingIfNeeded: hasher.finalize()))
  }
}
