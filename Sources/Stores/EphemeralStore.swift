/// What must be remembered for a while: single use, handles, device codes, refresh families.
///
/// Every operation is atomic. Times are seconds since 1970; the clock is an argument. An entry is gone once `expiry` is
/// not after `now`. Values that hold upstream tokens are sealed before they come here.
public protocol EphemeralStore: Sendable {
  /// Seconds that an entry has to outlive what it guards, since the clocks of those who share the store may differ, and
  /// any clock may be set back a little.
  var clockTolerance: Int64 { get }

  /// Stores `value` unless there is an entry: whether it did.
  func put(_ key: StoreKey, _ value: [UInt8], expiry: Int64, now: Int64) async throws(StoreError) -> Bool

  /// Puts `new` in the place of `old`, if that is the value now: whether it did. The expiry is the new value's.
  func replace(
    _ key: StoreKey, _ old: [UInt8], with new: [UInt8], expiry: Int64, now: Int64
  ) async throws(StoreError) -> Bool

  /// The value, which stays.
  func get(_ key: StoreKey, now: Int64) async throws(StoreError) -> [UInt8]?

  /// The value, removed: of several callers one gets it.
  func take(_ key: StoreKey, now: Int64) async throws(StoreError) -> [UInt8]?

  /// Adds to a counter that begins at 0 and returns the sum, which does not overflow but stays at its limit. The expiry
  /// counts when the counter begins. An entry that `put` made is no counter: the result is then `amount`, and the entry
  /// stays as it was.
  func increment(_ key: StoreKey, by amount: Int, expiry: Int64, now: Int64) async throws(StoreError) -> Int

  func remove(_ key: StoreKey, now: Int64) async throws(StoreError)
}

extension EphemeralStore {
  /// For machines whose clocks a time server keeps together.
  public var clockTolerance: Int64 { 60 }
}
