public import OAuth
internal import Reactor
internal import SQLite
public import Stores
internal import Synchronization
public import Time

/// The store of one machine: an SQLite file, which survives a restart, the end of the process and a power cut.
///
/// Operations are called on a worker and never block it: the store's own thread executes them (`StoreWriter`). An
/// operation returns once its result is durable on the disk. Only one process can use the file at a time.
public final class FileStore: EphemeralStore {
  /// The default size: 256 MiB, enough for 811,000 families of refresh tokens.
  public static let defaultSize = 256 << 20
  /// The time after which an operation fails. A disk that takes longer counts as not answering.
  static let operationTimeout: Milliseconds = 5_000

  /// The epoch of the file. It continues after a restart, unless the log of the file was damaged (`newEpochNotice`).
  public let epoch: EpochID
  /// A sentence for the operator if opening has begun a new epoch in a file that exists; otherwise `nil`.
  public let newEpochNotice: String?
  /// True if the file was created when it was opened.
  public let isNew: Bool
  private let path: String
  private let queue: StoreQueue
  private let shared = StoreShared()

  /// The facts about the file that are known once it is open.
  private struct Opened: Sendable {
    let epoch: EpochID
    let isNew: Bool
    let damage: LogDamage?
  }

  /// The result of opening the file, which the store's thread passes to `init`.
  private final class Opening: Sendable {
    let result = Mutex<Result<Opened, FileStoreError>?>(nil)
    let signal: ThreadSignal

    init() throws(IOError) { signal = try ThreadSignal() }

    func finish(_ opened: Result<Opened, FileStoreError>) {
      result.withLock { $0 = opened }
      signal.signal()
    }
  }

  /// Opens the file, or creates it if it does not exist, and starts the thread. Blocks until the file is open. Throws
  /// if the file cannot be used; a file with other content is never replaced.
  ///
  /// - Parameters:
  ///   - size: the maximum bytes of all entries.
  ///   - entries: the maximum number of entries of some kinds, in place of the limit from `size`; for tests.
  public init(
    path: String, size: Int = FileStore.defaultSize, entries: [StoreKind: Int] = [:]
  ) throws(FileStoreError) {
    let (shared, ended) = (shared, Ending())
    let opening: Opening
    do throws(IOError) {
      let queue = try StoreQueue()
      opening = try Opening()
      self.queue = queue
      let openingForThread = opening
      try OSThread.start("store") {
        FileStore.run(path, size: size, entries: entries, queue, shared, openingForThread)
        ended.isDone.store(true, ordering: .releasing)
      }
    } catch {
      throw FileStoreError(path, .system(message: error.description))
    }
    self.path = path
    self.ending = ended
    opening.signal.wait()
    guard let result = opening.result.withLock({ $0 }) else {
      throw FileStoreError(path, .system(message: "its thread ended"))
    }
    let opened = try result.get()
    epoch = opened.epoch
    isNew = opened.isNew
    newEpochNotice = opened.damage.map { damage in
      "the store \(path) begins a new epoch, because its log \(StoreFile.logPath(path)) \(damage.description): its latest "
        + "changes may be lost, so codes from before are refused"
    }
  }

  private static func run(
    _ path: String, size: Int, entries: [StoreKind: Int], _ queue: StoreQueue, _ shared: StoreShared,
    _ opening: Opening
  ) {
    let writer: StoreWriter
    let opened: Opened
    do throws(FileStoreError) {
      let file = try StoreFile(openingOrCreating: path)
      opened = Opened(epoch: file.epoch, isNew: file.isNew, damage: file.damage)
      do throws(SQLiteError) {
        writer = try StoreWriter(file, size: size, entries: entries, shared: shared)
      } catch {
        throw FileStoreError(path, error)
      }
    } catch {
      return opening.finish(.failure(error))
    }
    opening.finish(.success(opened))
    writer.run(queue)
    writer.end()
  }

  // MARK: Operations

  /// 5 seconds: all processes of one machine use the same clock, but a time server may set it back by seconds.
  public var clockTolerance: Seconds { 5 }

  /// Stores `value` and returns `nil` if the key has no unexpired entry. Otherwise returns the value of the entry.
  /// Throws `.full` if there is no room, and `.tooLong` if the kind does not permit so long a value. Throws
  /// `.unavailable` if the disk does not answer, or if the kind has a fixed length and the value has another one.
  public func put(
    _ key: StoreKey, _ value: [UInt8], holder: StoreHolder, expiry: UnixTime, now: UnixTime
  ) async throws(StoreError) -> [UInt8]? {
    if case .upTo(let longest) = key.kind.properties.size, value.count > longest { throw .tooLong }
    return try await performForValue(key, .put(value, holder: holder, expiry: expiry), now)
  }

  /// Reserves room for a value of at most `bytes` bytes. Throws `.full` if there is no room, `.tooLong` if the kind
  /// does not permit so long a value or has a fixed length, and `.unavailable` if the disk does not answer.
  public func reserve(
    _ key: StoreKey, bytes: Int, holder: StoreHolder, expiry: UnixTime, now: UnixTime
  ) async throws(StoreError) {
    guard case .upTo(let longest) = key.kind.properties.size, bytes <= longest else { throw .tooLong }
    _ = try await perform(key, .reserve(bytes: bytes, holder: holder, expiry: expiry), now)
  }

  /// Replaces `old` by `new` and returns true if `old` is the current value. Otherwise returns false. The errors are
  /// those of `put`.
  public func replace(
    _ key: StoreKey, _ old: [UInt8], with new: [UInt8], expiry: UnixTime, now: UnixTime
  ) async throws(StoreError) -> Bool {
    if case .upTo(let longest) = key.kind.properties.size, new.count > longest { throw .tooLong }
    guard case .flag(let isDone) = try await perform(key, .replace(old, with: new, expiry: expiry), now) else {
      return false
    }
    return isDone
  }

  /// Returns the value and keeps the entry. Throws `.unavailable` if the disk does not answer.
  public func get(_ key: StoreKey, now: UnixTime) async throws(StoreError) -> [UInt8]? {
    try await performForValue(key, .get, now)
  }

  /// Returns the value and removes the entry. Throws `.unavailable` if the disk does not answer.
  public func take(_ key: StoreKey, now: UnixTime) async throws(StoreError) -> [UInt8]? {
    try await performForValue(key, .take(expected: nil), now)
  }

  /// Removes the entry and returns true if `value` is its value. Otherwise returns false. Throws `.unavailable` if the
  /// disk does not answer.
  public func remove(_ key: StoreKey, _ value: [UInt8], now: UnixTime) async throws(StoreError) -> Bool {
    try await performForValue(key, .take(expected: value), now) != nil
  }

  /// Queues a change of the entry behind the waiting operations, and returns at once. If the file cannot be written, the
  /// change is made as soon as it can. The change replaces `old` by
  /// `new`, or removes the entry if `new` is `nil`. It has no effect if `old` is not the value.
  public func replaceLater(_ key: StoreKey, _ old: [UInt8], with new: [UInt8]?, expiry: UnixTime) async {
    guard let poller = Poller.current else { return }
    if let new {
      performWithoutReply(key, .replace(old, with: new, expiry: expiry), on: poller)
    } else {
      performWithoutReply(key, .take(expected: old), on: poller)
    }
  }

  /// Queues an operation for which no caller waits, and which is repeated until the file can be written. The operation is
  /// lost if too many others wait, or if the process ends first.
  private func performWithoutReply(_ key: StoreKey, _ operation: StoreRequest.Operation, on poller: Poller) {
    // With the time 0, the store's thread treats every entry as unexpired. If the operation replaces the value of an
    // expired entry, the entry stays expired, because the callers of `replaceLater` pass the expiry with which `old`
    // was stored.
    let request = StoreRequest(
      isForLater: true, key: key, operation: operation, now: 0, began: SystemClock.monotonicInstant(),
      reply: AwaitedValue(on: poller))
    if !queue.add(request) { shared.meter.failed(.unavailable) }
  }

  /// Performs an operation whose answer is a value.
  private func performForValue(
    _ key: StoreKey, _ operation: StoreRequest.Operation, _ now: UnixTime
  ) async throws(StoreError) -> [UInt8]? {
    guard case .value(let value) = try await perform(key, operation, now) else { return nil }
    return value
  }

  /// Queues an operation and waits until the store's thread has answered it.
  private func perform(
    _ key: StoreKey, _ operation: StoreRequest.Operation, _ now: UnixTime
  ) async throws(StoreError) -> StoreRequest.Answer {
    guard let poller = Poller.current else {
      throw .unavailable("the store was used outside of a worker")
    }
    let request = StoreRequest(
      key: key, operation: operation, now: now, began: SystemClock.monotonicInstant(),
      reply: AwaitedValue(on: poller))
    guard queue.add(request) else {
      shared.meter.failed(.unavailable)
      throw .unavailable("too many operations wait for the disk")
    }
    // The time limit begins with the operation. `poller.now` is the start of the loop's turn, which may be a while ago.
    let deadline = Deadline(request.began) + FileStore.operationTimeout
    guard let answer = await request.reply.wait(on: poller, until: deadline) else {
      shared.meter.failed(.timeout)
      shared.recordOutage("the disk does not answer", path: path)
      if case .put(let value, _, _) = operation, key.kind == .claim {
        // The transaction in progress may still store the claim, although the operation has failed for its caller. So
        // the claim is removed afterwards.
        performWithoutReply(key, .take(expected: value), on: poller)
      }
      throw .unavailable("the disk does not answer")
    }
    return try answer.get()
  }

  // MARK: Measurements

  /// Returns the number of families of refresh tokens that fit into a store of `size` bytes.
  public static func capacity(size: Int) -> Int { KindTable.capacity(.family, size: size) ?? 0 }

  /// The use of each kind's share, as of the last transaction.
  public var usage: [StoreUsage] { shared.usage }

  /// Sets a function that is called when the share of a kind is nearly full. It must not block.
  public func reportShortages(to report: @escaping @Sendable (StoreUsage) -> Void) {
    shared.reportShortages(to: report)
  }

  /// The operations since the start of the process, and the present outage.
  public var activity: StoreActivity? { shared.meter.activity(epoch: epoch) }

  /// Sets a function that is called with a sentence for the operator: when an outage begins or ends, and when the
  /// write-ahead log cannot be copied into the file. It must not block.
  public func reportOutages(to report: @escaping @Sendable (String) -> Void) {
    shared.reportOutages(to: report)
  }

  /// The copies of the write-ahead log into the file.
  public var checkpoints: CheckpointFigures { shared.checkpoints }

  // MARK: The end

  /// Makes the thread finish the waiting operations, close the file and end. Later operations fail.
  public func close() {
    queue.close()
  }

  /// True once the file is closed.
  public var isClosed: Bool { ending.isDone.load(ordering: .acquiring) }

  private let ending: Ending

  /// The record that the store's thread has closed the file.
  private final class Ending: Sendable {
    let isDone = Atomic<Bool>(false)
  }
}

extension FileStore {
  /// Reads the whole file and its log, and compares each index with its table. Changes no entry. Throws the first
  /// problem.
  public static func check(_ path: String) throws(FileStoreError) -> FileStoreReport {
    let file = try StoreFile(checking: path)
    return FileStoreReport(epoch: file.epoch, entries: try file.count())
  }

  /// Replaces the file by a new, empty store with a new epoch, also if the file is damaged or missing.
  ///
  /// Returns the name under which the old file is kept if it was not recognised as a store, and `nil` if no old file is
  /// kept. Throws if the file is in use or cannot be replaced.
  public static func reset(_ path: String) throws(FileStoreError) -> String? {
    try StoreFile.reset(path)
  }
}
