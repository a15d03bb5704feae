public import Time

// The claims of a store that only one process uses at a time: memory, or a file. If a claim is of another process, that
// process has ended, so no process has to show that it lives.

extension EphemeralStore {
  /// The id of the process.
  public func beginHold() -> ClaimantID { ClaimantID.ofProcess }

  /// Does nothing.
  public func endHold() {}

  /// True if the claim is of this process.
  public func isAlive(_ claimant: ClaimantID, for time: Milliseconds) -> Bool { claimant == ClaimantID.ofProcess }

  /// True if the claim is of another process.
  public func isGone(_ claimant: ClaimantID) async -> Bool { claimant != ClaimantID.ofProcess }
}
