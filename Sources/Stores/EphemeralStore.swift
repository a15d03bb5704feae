public import OAuth

/// A store for what is remembered for a while: single use, handles, refresh families.
///
/// Every operation is atomic and is one command of a shared store. Times are seconds since 1970; the clock is an
/// argument. An entry is gone once `expiry` is not after `now`. Values that hold tokens are sealed before they come here.
///
/// A value that begins a claim contains a random nonce of its request, so a request whose answer was lost recognises its
/// own value, and every change of the claim compares the nonce in the same step.
public protocol EphemeralStore: Sendable {
  /// Seconds that an entry has to outlive what it guards, since the clocks of those who share the store may differ, and
  /// any clock may be set back a little.
  var clockTolerance: Int64 { get }

  /// The time since the store last forgot its entries. A refresh token of an earlier epoch may have lost its family.
  var epoch: EpochID { get }

  /// Stores `value` if there is no entry. Returns the value that is there already, `nil` if `value` was stored.
  ///
  /// - Parameter holder: The client and network that the entry is charged to for as long as it lives.
  func put(
    _ key: StoreKey, _ value: [UInt8], holder: StoreHolder, expiry: Int64, now: Int64
  ) async throws(StoreError) -> [UInt8]?

  /// Reserves room for a value, in place of an entry that is there. The new entry has an empty value; `replace` fills it
  /// and gives the rest of the room back. For kinds whose values have no fixed length.
  ///
  /// - Parameter bytes: The length of the longest value that may follow.
  func reserve(
    _ key: StoreKey, bytes: Int, holder: StoreHolder, expiry: Int64, now: Int64
  ) async throws(StoreError)

  /// Replaces `old` by `new` if `old` is the value. Returns whether it was. The expiry is the new value's.
  func replace(
    _ key: StoreKey, _ old: [UInt8], with new: [UInt8], expiry: Int64, now: Int64
  ) async throws(StoreError) -> Bool

  /// Returns the value, which stays.
  func get(_ key: StoreKey, now: Int64) async throws(StoreError) -> [UInt8]?

  /// Returns the value and removes the entry: of several callers one gets it.
  func take(_ key: StoreKey, now: Int64) async throws(StoreError) -> [UInt8]?

  /// Removes the entry if `value` is its value. Returns whether it was.
  func remove(_ key: StoreKey, _ value: [UInt8], now: Int64) async throws(StoreError) -> Bool

  /// The room that each kind takes in this process; empty for a store that keeps its entries elsewhere.
  var usage: [StoreUsage] { get }

  /// Names a function that is called when the share of a kind becomes short. It must not block.
  func reportShortages(to report: @escaping @Sendable (StoreUsage) -> Void)
}

extension EphemeralStore {
  /// For machines whose clocks a time server keeps together.
  public var clockTolerance: Int64 { 60 }
  public var usage: [StoreUsage] { [] }
  public func reportShortages(to report: @escaping @Sendable (StoreUsage) -> Void) {}
}

/// The room that the entries of one kind take.
public struct StoreUsage: Hashable, Sendable {
  public let kind: StoreKind
  public var entries = 0
  /// Bytes of the entries and of the tables that hold them.
  public var bytes = 0
  /// Bytes that the kind may take.
  public var share = 0
  /// Entries that fit into the share; `nil` where their length differs.
  public var capacity: Int?
  /// Entries that made room for others.
  public var evictions: UInt64 = 0
  /// Requests for which there was no room.
  public var refusals: UInt64 = 0

  init(_ kind: StoreKind) {
    self.kind = kind
  }
}
