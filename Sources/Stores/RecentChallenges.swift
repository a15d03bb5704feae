internal import Synchronization

/// Detects code challenges that come from two browsers. An app that sends such challenges does not create random
/// verifiers (RFC 9700, section 2.1.1).
///
/// The memory is fixed: 16 bytes for each of `capacity` slots. A hash with a seed that differs in every process assigns
/// each challenge to a slot. A new challenge overwrites the older challenge in its slot, so a flood of requests only
/// makes the detector forget challenges.
public final class RecentChallenges: Sendable {
  private struct Slot: Sendable {
    /// A keyed 64-bit hash of the challenge; 0 for an empty slot. It is keyed because clients choose challenges.
    var challenge: UInt64 = 0
    /// The first 64 bits of the hash that identifies the browser.
    var browser: UInt64 = 0
  }

  private let slots: Mutex<[Slot]>
  private let capacity: Int

  /// Creates a detector that remembers up to `capacity` challenges.
  public init(capacity: Int = 16_384) {
    precondition(capacity > 0, "the capacity must be positive")
    self.capacity = capacity
    slots = Mutex([Slot](repeating: Slot(), count: capacity))
  }

  /// Remembers that the challenge came from this browser. Returns true if the last request with the same challenge came
  /// from another browser.
  ///
  /// - Parameter browser: a hash that identifies the browser; only its first 8 bytes are used.
  public func recordAndCheckReuse(_ challenge: String, from browser: [UInt8]) -> Bool {
    let hash = RecentChallenges.keyedHash(of: challenge)
    let slot = Slot(challenge: hash, browser: browser.prefix(8).reduce(0) { $0 << 8 | UInt64($1) })
    return slots.withLock { slots in
      let index = Int(truncatingIfNeeded: hash % UInt64(clamping: capacity))
      let previous = slots[index]
      slots[index] = slot
      return previous.challenge == hash && previous.browser != slot.browser
    }
  }

  private static func keyedHash(of challenge: String) -> UInt64 {
    var hasher = Hasher()
    hasher.combine(challenge)
    return max(1, UInt64(truncatingIfNeeded: hasher.finalize()))
  }
}
