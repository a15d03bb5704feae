public import OAuth
public import Time

/// A store of temporary entries, e.g. for the single use of codes, for state handles and for families of refresh
/// tokens.
///
/// Each operation is atomic; a shared store executes it as one command. The caller passes the current time. An entry no
/// longer exists once `now` has reached its `expiry`. The caller seals (encrypts) values that contain tokens.
///
/// A claim is an entry by which one request reserves the use of a code or token. Its value contains a random nonce of
/// the request. If the answer of the store was lost, the request can recognise its own claim by the nonce. Each
/// operation that changes a claim also compares the nonce.
public protocol EphemeralStore: Sendable {
  /// The time by which an entry must outlive the object that it protects. The clocks of replicas may differ, and any
  /// clock may be set back by a few seconds.
  var clockTolerance: Seconds { get }

  /// The id of the current epoch: the period since the store last lost its entries. If a refresh token is from an
  /// earlier epoch, the entry of its family may be lost.
  var epoch: EpochID { get }

  /// Stores `value` and returns `nil` if there is no entry; otherwise returns the existing value.
  ///
  /// - Parameter holder: the client and network that the entry is charged to as long as it exists.
  func put(
    _ key: StoreKey, _ value: [UInt8], holder: StoreHolder, expiry: UnixTime, now: UnixTime
  ) async throws(StoreError) -> [UInt8]?

  /// Stores an entry that is valid only in `epoch`. For the claim of a code, this is the epoch in which the code was
  /// sealed, so that a code of an earlier epoch cannot be redeemed. Otherwise like ``put(_:_:holder:expiry:now:)``.
  /// Throws `.unavailable` if the store is in another epoch; the entry then counts as not stored. ``MemoryStore``
  /// accepts every epoch.
  func put(
    _ key: StoreKey, _ value: [UInt8], in epoch: EpochID, holder: StoreHolder, expiry: UnixTime, now: UnixTime
  ) async throws(StoreError) -> [UInt8]?

  /// Stores an entry with an empty value and with room for a value of `bytes` bytes. Replaces an existing entry. A
  /// later `replace` of the empty value stores the value and releases the unused room. Only for kinds whose values vary
  /// in length.
  ///
  /// - Parameter bytes: the maximum length of the value that `replace` will store.
  func reserve(
    _ key: StoreKey, bytes: Int, holder: StoreHolder, expiry: UnixTime, now: UnixTime
  ) async throws(StoreError)

  /// Replaces the value `old` with `new`, and sets the expiry of the entry. Returns false, and changes nothing, if
  /// `old` is not the value.
  func replace(
    _ key: StoreKey, _ old: [UInt8], with new: [UInt8], expiry: UnixTime, now: UnixTime
  ) async throws(StoreError) -> Bool

  /// Returns the value and keeps the entry; `nil` if there is no entry.
  func get(_ key: StoreKey, now: UnixTime) async throws(StoreError) -> [UInt8]?

  /// Returns the value and removes the entry, so that only one of several callers gets it.
  func take(_ key: StoreKey, now: UnixTime) async throws(StoreError) -> [UInt8]?

  /// Removes the entry if `value` is its value. Returns true if it was removed.
  func remove(_ key: StoreKey, _ value: [UInt8], now: UnixTime) async throws(StoreError) -> Bool

  /// Replaces `old` by `new`, or removes the entry if `new` is `nil`, as soon as the store answers again. A ledger
  /// calls this function to end a claim after an operation on the claim has failed. Nothing is changed if `old` is not
  /// the value. The change is lost if the process ends first, or if the store begins another epoch.
  func replaceLater(_ key: StoreKey, _ old: [UInt8], with new: [UInt8]?, expiry: UnixTime) async

  /// Begins to hold a claim, and returns the id with which its nonce has to begin. A store of several processes shows
  /// to the others that this process lives, from the next operation until `endHold`. Call it before the claim is
  /// stored.
  func beginHold() -> ClaimantID

  /// Ends the hold of one `beginHold`: the claim was not made, or its end is recorded.
  func endHold()

  /// Returns true if no other process can find this process gone within `time` from now.
  ///
  /// - Parameter claimant: an id that ``beginHold()`` has returned.
  func isAlive(_ claimant: ClaimantID, for time: Milliseconds) -> Bool

  /// Returns true if the process of a claim has ended, or has lost the store for so long that it must not use the claim
  /// any more. False if this is not known, for example if the store does not answer. Call it after the claim was read:
  /// a process that holds no claim does not show that it lives.
  func isGone(_ claimant: ClaimantID) async -> Bool

  /// The memory use of each kind. For a store that counts its entries in the background, the result of the latest
  /// complete count; empty before the first one.
  var usage: [StoreUsage] { get }

  /// The state of the count that `usage` comes from; `nil` for a store that always knows its use.
  var latestCount: StoreCount? { get }

  /// Lets a store that counts its entries in the background begin a count, unless it has counted a moment ago. Without
  /// such calls, it never counts. Returns immediately; may be called on any thread.
  func beginCount()

  /// Sets a function that is called when the share of a kind is nearly full. It must not block.
  func reportShortages(to report: @escaping @Sendable (StoreUsage) -> Void)

  /// The operations since the start of the process and the present outage; `nil` for a store in the memory of the
  /// process, which always answers.
  var activity: StoreActivity? { get }

  /// Sets a function that is called with a sentence for the operator when the store stops answering, and when it
  /// answers again. It must not block.
  func reportOutages(to report: @escaping @Sendable (String) -> Void)
}

extension EphemeralStore {
  /// Throws if `epoch` is not the epoch of the store. For stores whose epoch does not change while the process runs.
  public func put(
    _ key: StoreKey, _ value: [UInt8], in epoch: EpochID, holder: StoreHolder, expiry: UnixTime, now: UnixTime
  ) async throws(StoreError) -> [UInt8]? {
    guard epoch == self.epoch else { throw .unavailable("the store has begun another epoch") }
    return try await put(key, value, holder: holder, expiry: expiry, now: now)
  }

  /// Does nothing, for a store whose failed operations have no effect.
  public func replaceLater(_ key: StoreKey, _ old: [UInt8], with new: [UInt8]?, expiry: UnixTime) async {}

  /// 60 seconds, enough for machines that synchronise their clocks with a time server.
  public var clockTolerance: Seconds { 60 }
  /// Empty, for stores that do not know their use.
  public var usage: [StoreUsage] { [] }
  /// `nil`, for stores that do not count in the background.
  public var latestCount: StoreCount? { nil }
  /// Does nothing, for stores that do not count in the background.
  public func beginCount() {}
  /// Does nothing, for stores without shares.
  public func reportShortages(to report: @escaping @Sendable (StoreUsage) -> Void) {}
  /// `nil`, for a store that always answers.
  public var activity: StoreActivity? { nil }
  /// Does nothing, for a store that always answers.
  public func reportOutages(to report: @escaping @Sendable (String) -> Void) {}
}

/// The memory that the entries of one kind use, and the numbers of evictions and refusals for lack of memory.
public struct StoreUsage: Hashable, Sendable {
  /// The kind of the entries.
  public let kind: StoreKind
  /// The number of entries.
  public var entries = 0
  /// The bytes of the entries and of the tables that hold them. For a store in another process, only the bytes of their
  /// names and values.
  public var bytes = 0
  /// The bytes that the kind may use; 0 for a store without shares.
  public var share = 0
  /// The number of entries that fit into the share; `nil` for values that vary in length.
  public var capacity: Int?
  /// The number of entries that were removed to make room for others.
  public var evictions: UInt64 = 0
  /// The number of requests that were refused for lack of room.
  public var refusals: UInt64 = 0

  /// Creates the use of an empty share.
  package init(_ kind: StoreKind) {
    self.kind = kind
  }
}
