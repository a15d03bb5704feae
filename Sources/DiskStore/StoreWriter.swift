internal import Cryptography
internal import OAuth
internal import Reactor
internal import SQLite
internal import Stores
internal import Time

/// The work of the store's thread.
///
/// Theory of operation. The thread takes all waiting operations and executes them in one transaction, in their order.
/// The commit appends the changed pages to the write-ahead log and waits for one sync of the log. Only then are the
/// operations answered, including reads, so no answer depends on a change that a power cut could undo. Operations that
/// arrive during the sync form the next transaction. So on a slow disk, a transaction takes longer but executes more
/// operations.
///
/// A transaction that fails is undone as a whole, and its operations are answered with `.unavailable`. After a power
/// cut, the file may contain their changes nevertheless, so `.unavailable` always means that the outcome is unknown.
/// Changes for which no caller waits are kept, and are the first of the next transaction with a change. If there is none,
/// the thread tries it each `retryPause`.
///
/// Each transaction also removes a few expired entries. When the log is long, the thread copies the log's pages into
/// the file, after it has answered the operations. The copy has two steps: SQLite copies without a sync of the log,
/// because each commit has made the log durable, and then the thread syncs the file. Nothing is written to the log
/// between the two steps, so the log contains all changes until the sync has returned.
final class StoreWriter {
  /// The maximum number of operations in a transaction, which limits how long the first of them waits.
  private static let maximumBatch = 1_024
  /// If a commit takes at least `slowSync` nanoseconds, and the thread has just answered at least `minimumGroup`
  /// operations, it waits up to `maximumWait` milliseconds for the next operations of the same callers.
  private static let slowSync: UInt64 = 3_000_000
  private static let minimumGroup = 16
  private static let maximumWait: UInt64 = 5
  /// The maximum number of entries of a kind that the sweep in a transaction examines: `maximumSweepPerOperation` times
  /// the number of operations, but at most `maximumSweep`.
  private static let maximumSweep = 512
  private static let maximumSweepPerOperation = 8
  /// The pause between two attempts to make the changes that a transaction could not make. A failed attempt reads all
  /// entries again.
  private static let retryPause: Milliseconds = 1_000

  private let file: StoreFile
  private let database: Database
  private let tables: [KindTable]
  private let shared: StoreShared
  private var pace = CheckpointPace()
  /// The start and end of the latest copy of the log, until the next transaction.
  private var latestCopy: (began: MonotonicInstant, ended: MonotonicInstant)?
  /// The changes for which no caller waits and that no transaction could make yet, in their order; at most
  /// `StoreQueue.limit`.
  private var unmade: [StoreRequest] = []
  /// The reason why the file must not be used any more; `nil` while it may be used.
  private var fault: String?

  /// Opens the table of each kind and counts its entries.
  ///
  /// - Parameters:
  ///   - size: the maximum bytes of all entries.
  ///   - entries: the maximum number of entries of some kinds, in place of the limit from `size`.
  init(_ file: StoreFile, size: Int, entries: [StoreKind: Int], shared: StoreShared) throws(SQLiteError) {
    self.file = file
    self.shared = shared
    database = file.database
    // 16 MiB, which holds the indexes of a busy store.
    try database.run("PRAGMA cache_size=-16384")
    var tables: [KindTable] = []
    let holderKey = HMACSHA256(key: file.holderKey)
    for kind in StoreKind.allCases {
      tables.append(
        try KindTable(kind, in: file.database, size: size, entries: entries[kind], holderKey: holderKey))
    }
    self.tables = tables
    publishUsage()
  }

  /// Runs until the queue is closed.
  func run(_ queue: StoreQueue) {
    var previousCount = 0
    while var requests = queue.takeAll(within: unmade.isEmpty || fault != nil ? nil : StoreWriter.retryPause) {
      // The callers that were answered last send their next operations one after the other. If a transaction began with
      // the first of these operations, the others would have to wait for the transaction after it. So on a slow disk,
      // each transaction would serve only half of the callers. The thread therefore waits until seven eighths of these
      // operations have arrived, at most one millisecond for each 2.5 milliseconds that a commit takes.
      if pace.commitTime >= StoreWriter.slowSync, previousCount >= StoreWriter.minimumGroup {
        let expectedCount = requests.count + previousCount * 7 / 8
        var waits = min(StoreWriter.maximumWait, max(1, pace.commitTime / 2_500_000))
        while waits > 0, requests.count < expectedCount {
          requests += queue.takeMore()
          waits -= 1
        }
      }
      previousCount = requests.count
      if requests.isEmpty { executeAndAnswer([]) }
      var rest = requests[...]
      while !rest.isEmpty {
        let batch = rest.prefix(StoreWriter.maximumBatch)
        rest = rest.dropFirst(StoreWriter.maximumBatch)
        executeAndAnswer(batch)
        checkpointIfDue()
      }
    }
  }

  /// Ends the use of the file after the last operation. After a fault, the next start needs the log.
  func end() {
    if !unmade.isEmpty { executeAndAnswer([]) }
    if !unmade.isEmpty {
      shared.informOperator(
        "the store \(file.path) ends without \(unmade.count) changes that could not be written: codes or refresh tokens "
          + "that were used at the end may be accepted again")
    }
    guard fault == nil else { return }
    // If this fails, the log is kept too.
    try? file.end()
  }

  // MARK: Transactions

  /// Executes the operations in one transaction, and answers them. Omits an operation whose caller has waited until its
  /// deadline and has left. An operation for which no caller ever waits (`FileStore.performWithoutReply`) is executed.
  private func executeAndAnswer(_ batch: ArraySlice<StoreRequest>) {
    let awaited = batch.filter { !$0.reply.isAbandoned }
    // With a full disk, a transaction that only reads succeeds without the changes.
    let isRetry = awaited.isEmpty || awaited.contains(where: \.isChange)
    let executed = isRetry ? unmade + awaited : awaited
    guard !executed.isEmpty else { return }
    recordCheckpointWait(of: awaited)
    var answers: [Result<StoreRequest.Answer, StoreError>] = []
    answers.reserveCapacity(executed.count)
    let reason: String?
    var hasWritten = false
    if let fault {
      reason = fault
    } else {
      do throws(SQLiteError) {
        try database.run("BEGIN")
        let now = awaited.map(\.now).max() ?? 0
        let limit = min(StoreWriter.maximumSweep, awaited.count * StoreWriter.maximumSweepPerOperation)
        for table in tables { try table.sweep(now: now, atMost: limit) }
        for request in executed { answers.append(try execute(request)) }
        let began = SystemClock.monotonicInstant()
        let frames = database.logFrames
        try database.run("COMMIT")
        // A commit without changes writes nothing to the log and waits for no sync, so its duration is not recorded.
        hasWritten = database.logFrames != frames
        if hasWritten {
          pace.recordCommit(nanoseconds: (SystemClock.monotonicInstant() - began).count)
          file.recordCommit()
        }
        reason = nil
      } catch {
        reason = undo(error)
      }
    }
    publishUsage()
    if isRetry { unmade = reason == nil ? [] : Array(executed.lazy.filter(\.isForLater).prefix(StoreQueue.limit)) }
    if let reason {
      shared.recordOutage(reason, path: file.path)
      let failure = Result<StoreRequest.Answer, StoreError>.failure(.unavailable(reason))
      answers = Array(repeating: failure, count: executed.count)
    } else if hasWritten {
      // With a full disk, a transaction without changes succeeds, so it does not end an outage.
      shared.recordRecovery(path: file.path)
    }
    for (request, answer) in zip(awaited, answers.suffix(awaited.count)) {
      shared.meter.observe(nanoseconds: (SystemClock.monotonicInstant() - request.began).count)
      // With a fault, no operation succeeds until the operator acts, which is the meaning of `.misconfigured`.
      if reason != nil { shared.meter.failed(fault == nil ? .unavailable : .misconfigured) }
      request.reply.deliver(answer)
    }
    for table in tables where table.takeDueWarning() { shared.reportShortage(table.usage) }
  }

  private func execute(
    _ request: StoreRequest
  ) throws(SQLiteError) -> Result<StoreRequest.Answer, StoreError> {
    let table = tables[request.key.kind.index]
    let (key, now) = (request.key, request.now)
    switch request.operation {
    case .put(let value, let holder, let expiry):
      let result = try table.put(key, value, holder: holder, expiry: expiry, now: now)
      if case .failure = result { table.countRefusal() }
      return result.map { .value($0) }
    case .reserve(let bytes, let holder, let expiry):
      let result = try table.reserve(key, bytes: bytes, holder: holder, expiry: expiry, now: now)
      if case .failure = result { table.countRefusal() }
      return result.map { .flag(true) }
    case .replace(let old, let new, let expiry):
      return try table.replace(key, old, with: new, expiry: expiry, now: now).map { .flag($0) }
    case .get: return .success(.value(try table.value(of: key, now: now)))
    case .take(let expected): return .success(.value(try table.take(key, expected, now: now)))
    }
  }

  /// Undoes the transaction. Returns the reason with which its operations are answered.
  private func undo(_ error: SQLiteError) -> String {
    let reason = StoreWriter.reason(error, file.path)
    if error.reason == .damaged { fault = reason }
    do throws(SQLiteError) {
      if database.isInTransaction { try database.run("ROLLBACK") }
      for table in tables { try table.load() }
    } catch {
      fault = fault ?? StoreWriter.reason(error, file.path)
    }
    return reason
  }

  private static func reason(_ error: SQLiteError, _ path: String) -> String {
    switch error.reason {
    case .full: "the disk is full"
    case .readOnly: "the file or its file system is read-only"
    case .damaged:
      "the file is damaged (\(error.message)); stop the gateway and restore the file, or run `proofgate store reset "
        + "\(path)`"
    case .busy, .cannotOpen, .inputOutput, .other: error.description
    }
  }

  // MARK: The log

  private func checkpointIfDue() {
    let frames = database.logFrames
    guard fault == nil, frames >= pace.copyThreshold else { return }
    let began = SystemClock.monotonicInstant()
    defer { latestCopy = (began, SystemClock.monotonicInstant()) }
    do throws(SQLiteError) {
      // Each commit has synced the log, so another sync of the log before the copy would only delay commits.
      try database.run("PRAGMA synchronous=OFF")
      try database.copyLog()
    } catch {
      // The log keeps the pages. The copy is repeated when the log is longer.
      pace.recordFailure(frames: frames)
      shared.informOperator("the store \(file.path) cannot move its log into the file: \(error)")
      do throws(SQLiteError) {
        try database.run("PRAGMA synchronous=FULL")
      } catch {
        fault = StoreWriter.reason(error, file.path)
      }
      return
    }
    do throws(SQLiteError) {
      try database.syncFile()
      try database.run("PRAGMA synchronous=FULL")
    } catch {
      // After this copy, the next commit would overwrite the log, although its pages may not be durable in the file. So
      // no further commit may happen. The log is still complete, so a restart copies it again.
      fault = "the file could not be synced (\(error)); the gateway has to be restarted"
      return
    }
    let nanoseconds = (SystemClock.monotonicInstant() - began).count
    pace.recordCopy(nanoseconds: nanoseconds)
    shared.recordCheckpoint(nanoseconds: nanoseconds)
  }

  /// Records how long the oldest operation of the first transaction after a copy has waited for the copy.
  private func recordCheckpointWait(of awaited: [StoreRequest]) {
    guard let copy = latestCopy else { return }
    latestCopy = nil
    guard let oldest = awaited.lazy.map(\.began).min(), oldest < copy.ended else { return }
    shared.recordCheckpointWait(nanoseconds: (copy.ended - max(oldest, copy.began)).count)
  }

  private func publishUsage() {
    shared.publish(tables.map(\.usage))
  }
}
