internal import ByteText
public import OAuth
public import Policy
internal import RESP
public import Reactor
public import Stores
internal import Synchronization
public import Time

/// The store of several replicas: a Redis or Valkey server, version 7 or later, alone or with sentinels.
///
/// Each worker has one connection on its own loop (`RedisClient`). An operation is one command on one key. It is valid
/// only in the epoch in which it began: if the server that executes it is in another epoch, the operation fails. The
/// caller passes only digests and sealed values. Entries expire by the server's clock. The kinds of entries have no
/// fixed shares of the memory (`StoreUsage.share`). Instead, each process limits the bytes of the entries that it makes,
/// and the part of each holder (`HolderBudgets`).
public final class RedisStore: EphemeralStore {
  let settings: RedisSettings
  let servers: RedisServers
  let condition: RedisCondition
  let epochKey: [UInt8]
  /// The key of writes without effect (`RedisBatch.hasFence`).
  let fenceKey: [UInt8]
  /// The beginning of all keys of the gateway.
  let prefix: [UInt8]
  /// The count of the entries on the server.
  let count = RedisCount()
  /// Decides when a worker writes the key of this process, and which other processes are gone.
  let presence = RedisPresence()
  private let claimPrefix: [UInt8]
  let budgets: HolderBudgets
  private let workers = Mutex<[Worker]>([])

  /// Creates a store without a connection. `start` connects.
  public init(_ settings: RedisSettings) {
    self.settings = settings
    budgets = HolderBudgets(size: settings.size)
    servers = RedisServers(settings)
    condition = RedisCondition(settings)
    prefix = Array(settings.keyPrefix.utf8)
    epochKey = prefix + Array("epoch".utf8)
    fenceKey = prefix + Array("fence".utf8)
    claimPrefix = prefix + [StoreKind.claim.rawValue, UInt8(ascii: ":")]
  }

  // MARK: Connections

  /// Connects on a worker. The worker keeps the connection until `stop`, and may have only one store.
  public func start(on worker: isolated Worker) {
    let client = RedisClient(self, worker.poller)
    worker.keep(client)
    worker.poller.start(client)
    let isFirst = workers.withLock { workers in
      workers.append(worker)
      return workers.count == 1
    }
    guard isFirst else { return }
    let counter = RedisCounter(self, client, worker.poller)
    worker.keep(counter)
    worker.poller.start(counter)
  }

  /// Closes the connections. All later operations fail. Call it while the workers run.
  public func stop() async {
    let workers = workers.withLock { workers in
      defer { workers = [] }
      return workers
    }
    for worker in workers {
      await worker.perform { $0.resident(RedisClient.self)?.stop() }
      await worker.perform { $0.resident(RedisCounter.self)?.stop() }
    }
  }

  /// The epoch of the latest connection; `none` before the first.
  public var epoch: EpochID { condition.epoch }

  /// The operations since the start of the process, and the present outage.
  public var activity: StoreActivity? { condition.activity }

  /// Sets a function that is called with a sentence when an outage begins or ends. It must not block.
  public func reportOutages(to report: @escaping @Sendable (String) -> Void) {
    condition.reportOutages(to: report)
  }

  // MARK: Operations

  /// Stores `value` and returns `nil` if there is no entry; otherwise returns the existing value. Throws `.full`,
  /// `.tooLong`, or `.unavailable` if the server does not answer, if it has begun another epoch, or if the value has
  /// the wrong length for its kind.
  public func put(
    _ key: StoreKey, _ value: [UInt8], holder: StoreHolder, expiry: UnixTime, now: UnixTime
  ) async throws(StoreError) -> [UInt8]? {
    try await put(key, value, in: epoch, holder: holder, expiry: expiry, now: now)
  }

  /// Stores an entry that is valid only in `epoch`. Throws the errors of ``put(_:_:holder:expiry:now:)``.
  public func put(
    _ key: StoreKey, _ value: [UInt8], in epoch: EpochID, holder: StoreHolder, expiry: UnixTime, now: UnixTime
  ) async throws(StoreError) -> [UInt8]? {
    try checkLength(value, key.kind)
    // As in other stores, an entry that has already expired is not stored.
    guard expiry > now else { return try self.value(of: try await perform(.get(key: name(key)), in: epoch)) }
    let charge = try await charge(key, value.count, holder, expiry - now)
    return try await perform(
      .put(key: name(key), value: value, lifetime: RedisStore.lifetime(until: expiry, now: now)), in: epoch,
      charge: charge)
  }

  /// Stores an empty value that `replace` may replace by one of up to `bytes` bytes. Throws `.full`, `.tooLong` or
  /// `.unavailable`.
  public func reserve(
    _ key: StoreKey, bytes: Int, holder: StoreHolder, expiry: UnixTime, now: UnixTime
  ) async throws(StoreError) {
    guard case .upTo(let longest) = key.kind.properties.size, bytes <= longest else { throw .tooLong }
    guard expiry > now else {
      // An expired entry also replaces the existing one, so no entry is left.
      _ = try await take(key, now: now)
      return
    }
    let charge = try await charge(key, min(bytes, RedisStore.assumedLength), holder, expiry - now)
    _ = try await perform(
      .set(key: name(key), value: [], lifetime: RedisStore.lifetime(until: expiry, now: now)), in: epoch,
      charge: charge)
  }

  /// Replaces `old` by `new` if `old` is the current value. Throws `.tooLong` or `.unavailable`.
  public func replace(
    _ key: StoreKey, _ old: [UInt8], with new: [UInt8], expiry: UnixTime, now: UnixTime
  ) async throws(StoreError) -> Bool {
    guard expiry > now else { return false }
    try checkLength(new, key.kind)
    return try changedEntry(
      try await perform(
        .swap(key: name(key), old: old, new: new, lifetime: RedisStore.lifetime(until: expiry, now: now)), in: epoch))
  }

  /// Returns the value and keeps the entry. Throws `.unavailable`.
  public func get(_ key: StoreKey, now: UnixTime) async throws(StoreError) -> [UInt8]? {
    try value(of: try await perform(.get(key: name(key)), in: epoch))
  }

  /// Returns the value and removes the entry. Throws `.unavailable`; the entry may then be gone.
  public func take(_ key: StoreKey, now: UnixTime) async throws(StoreError) -> [UInt8]? {
    // The charge is that of the entry before the removal (`HolderBudgets.charge(of:)`).
    let charge = budgets.charge(of: key)
    let value = try value(of: try await perform(.take(key: name(key)), in: epoch))
    if let charge { budgets.undo(charge) }
    return value
  }

  /// Removes the entry if `value` is its value. Throws `.unavailable`.
  public func remove(_ key: StoreKey, _ value: [UInt8], now: UnixTime) async throws(StoreError) -> Bool {
    let charge = budgets.charge(of: key)
    let isRemoved = try changedEntry(try await perform(.remove(key: name(key), value: value), in: epoch))
    if isRemoved, let charge { budgets.undo(charge) }
    return isRemoved
  }

  /// Replaces `old` by `new`, or removes the entry if `new` is `nil`, as soon as the server answers again. Changes
  /// nothing if the server is then in another epoch.
  public func replaceLater(_ key: StoreKey, _ old: [UInt8], with new: [UInt8]?, expiry: UnixTime) async {
    let now = SystemClock.unixTime()
    guard expiry > now, epoch != .none else { return }
    let name = self.name(key)
    if let new {
      let lifetime = RedisStore.lifetime(until: expiry, now: now)
      await performLater(.swap(key: name, old: old, new: new, lifetime: lifetime), in: epoch)
      return
    }
    let charge = budgets.charge(of: key)
    await performLater(.remove(key: name, value: old), in: epoch) { [budgets] reply in
      guard let charge, case .integer(let number) = reply else { return }
      // With 0, the key has another value, so the value `old` was not stored, or was replaced.
      if number == 1 { budgets.undo(charge) } else { budgets.undoUnlessStored(charge) }
    }
  }

  // MARK: Steps of operations

  /// The worker of the calling task. A task outside of the workers uses the first one.
  private var currentWorker: Worker? {
    let workers = workers.withLock { $0 }
    for worker in workers where worker.loop.isCurrent { return worker }
    return workers.first
  }

  func perform(
    _ operation: RedisOperation, in epoch: EpochID, charged: RedisCharge? = nil
  ) async throws(StoreError) -> RESPReply {
    let began = SystemClock.monotonicInstant()
    let result: Result<RESPReply, RedisFailure>
    do throws(RedisFailure) {
      guard epoch != .none else { throw .unreachable("the store is not connected yet") }
      guard let worker = currentWorker else { throw .unreachable("the store is not started") }
      result = .success(try await worker.perform(operation, in: epoch, charged))
    } catch {
      result = .failure(error)
    }
    let ended = SystemClock.monotonicInstant()
    let endTime = MonotonicTime(ended)
    switch result {
    case .success(.error(let text)):
      // Not reached: `RedisClient` throws for error replies.
      throw .unavailable(text)
    case .success(let reply):
      condition.recordOperation(nil, nanoseconds: (ended - began).count, now: endTime)
      return reply
    case .failure(let failure):
      condition.recordOperation(failure, nanoseconds: (ended - began).count, now: endTime)
      throw failure.storeError
    }
  }

  /// Performs an operation as soon as the server answers (`RedisClient.performLater`).
  func performLater(
    _ operation: RedisOperation, in epoch: EpochID, onReply: (@Sendable (RESPReply) -> Void)? = nil
  ) async {
    await currentWorker?.performLater(operation, in: epoch, onReply)
  }

  /// Returns the value in a reply; `nil` without one.
  func value(of reply: RESPReply) throws(StoreError) -> [UInt8]? {
    switch reply {
    case .bytes(let value): return value
    case .null: return nil
    // `OK`, the reply to SET without GET.
    case .status: return nil
    case .integer, .array, .error: throw RedisFailure.unexpectedReply("to a command of one key").storeError
    }
  }

  /// Returns true if the script has replaced or removed the entry.
  private func changedEntry(_ reply: RESPReply) throws(StoreError) -> Bool {
    switch reply {
    case .integer(let number): return number == 1
    case .status, .bytes, .null, .array, .error: throw RedisFailure.unexpectedReply("to the script").storeError
    }
  }

  private func checkLength(_ value: [UInt8], _ kind: StoreKind) throws(StoreError) {
    switch kind.properties.size {
    case .upTo(let longest): if value.count > longest { throw .tooLong }
    case .fixed(let length): if value.count != length { throw .unavailable("a value of the wrong length for its kind") }
    }
  }

  /// Returns the memory that the server needs for an entry at most, in bytes. The server keeps two records for each key
  /// that expires, and its allocator rounds lengths up by as much as a quarter.
  static func memory(ofName name: Int, value: Int) -> Int { 200 + name + value + value / 4 }

  /// The length of the name of an entry without its prefix: a letter, a colon, and 22 characters of base64url.
  static let nameLength = 2 + 22

  /// Returns the name of an entry on the server: the prefix, the letter of the kind, and the 128 bits in base64url.
  func name(_ key: StoreKey) -> [UInt8] {
    var name: [UInt8] = []
    name.reserveCapacity(prefix.count + RedisStore.nameLength)
    name += prefix
    name.append(key.kind.rawValue)
    name.append(UInt8(ascii: ":"))
    name += Base64URL.encodedBytes(key.bytes)
    return name
  }

  /// Returns true if `name` is the name of a claim on the server.
  func isClaim(_ name: [UInt8]) -> Bool { name.starts(with: claimPrefix) }

  private static func lifetime(until expiry: UnixTime, now: UnixTime) -> Seconds {
    // The server refuses lifetimes that overflow its clock.
    min(expiry - now, Seconds(1 << 40))
  }
}

extension Worker {
  fileprivate func perform(
    _ operation: RedisOperation, in epoch: EpochID, _ charged: RedisCharge?
  ) async throws(RedisFailure) -> RESPReply {
    guard let client = resident(RedisClient.self) else { throw .unreachable("the store is not started") }
    return try await client.perform(operation, in: epoch, charged: charged)
  }

  fileprivate func performLater(
    _ operation: RedisOperation, in epoch: EpochID, _ onReply: (@Sendable (RESPReply) -> Void)?
  ) {
    resident(RedisClient.self)?.performLater(operation, in: epoch, onReply: onReply)
  }
}
