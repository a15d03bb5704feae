internal import Synchronization

/// A detector of code challenges that come from two browsers: the verifiers of such an app are not random (RFC 9700,
/// section 2.1.1).
///
/// The memory is fixed: 16 bytes for each of `capacity` places. A new challenge overwrites the older one in its place,
/// so a flood of requests only makes the detector forget. A seed that differs in every process decides on the place of
/// a challenge.
public final class RecentChallenges: Sendable {
  private struct Place: Sendable {
    /// 64-bit hashes: a keyed one of the challenge, because clients choose challenges, and the first bits of the hash
    /// that identifies the browser. 0 is an empty place.
    var challenge: UInt64 = 0
    var browser: UInt64 = 0
  }

  private let places: Mutex<[Place]>
  private let capacity: Int

  /// Creates a detector that remembers up to `capacity` challenges.
  public init(capacity: Int = 16_384) {
    precondition(capacity > 0, "the capacity must be positive")
    self.capacity = capacity
    places = Mutex([Place](repeating: Place(), count: capacity))
  }

  /// Returns true if the challenge was last seen from another browser, and then remembers it for this browser.
  ///
  /// - Parameter browser: a hash that identifies the browser; only its first 8 bytes are used.
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
