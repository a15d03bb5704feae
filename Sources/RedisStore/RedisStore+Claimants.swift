internal import ByteText
internal import RESP
internal import Reactor
public import Stores
public import Time

extension RedisStore {
  /// Begins to hold a claim. The next commands of the worker write the key of this process if a write is due.
  public func beginHold() -> ClaimantID { presence.beginHold(now: SystemClock.monotonicTime()) }

  /// Ends the hold of one `beginHold`.
  public func endHold() { presence.endHold() }

  /// Returns true if the key of this process certainly exists for `time` from now.
  public func isAlive(_ claimant: ClaimantID, for time: Milliseconds) -> Bool {
    presence.isAlive(claimant, for: time, now: SystemClock.monotonicTime())
  }

  /// Returns true if the process of the claim has had no key for some seconds. False if the server does not answer, or
  /// soon after another epoch has begun.
  public func isGone(_ claimant: ClaimantID) async -> Bool {
    let epoch = self.epoch
    guard presence.canFindGone(claimant, in: epoch, now: SystemClock.monotonicTime()) else { return false }
    do throws(StoreError) {
      guard try await perform(.get(key: presenceKey(claimant)), in: epoch) == .null else {
        presence.recordPresent(claimant)
        return false
      }
      return presence.recordMissing(claimant, now: SystemClock.monotonicTime())
    } catch {
      return false
    }
  }

  /// Returns the key that shows that a process lives.
  func presenceKey(_ claimant: ClaimantID) -> [UInt8] {
    prefix + Array("alive:".utf8) + Array(Base64URL.encode(claimant.bytes).utf8)
  }
}
