internal import Cryptography
internal import OAuth
internal import Policy
internal import RESP
internal import Reactor
internal import Stores
internal import TLS
internal import Time

/// The connection of one worker to the store.
///
/// Theory of operation. Operations append their commands to `calls` and wake this activity, which runs after the other
/// jobs of the loop's turn. It sends all commands at once, followed by the commands that decide if their replies are
/// valid (`RedisBatch`). The replies arrive in the order of the commands, so a queue of batches assigns each reply to
/// its call. While the process holds claims, the first command of a batch may write the key of the process
/// (`RedisPresence`). If no other commands wait, this write is a batch of its own.
///
///     connecting --(success)--> up --(connection ends)--> connecting
///     connecting --(failure)--> down --(pause, failure)--> down
///                               down --(pause, success)--> up
///
/// In the phase `connecting`, operations wait for the connection. In the phase `down`, new operations fail immediately.
/// If a connection ends, its last commands may have been executed: operations that recognise their own effect are
/// repeated until their deadline, and other operations fail. A claim whose outcome stays unknown is removed after the
/// next connect. The removal is safe, because a request sends nothing upstream before it has the claim. Other changes
/// that must not be lost wait for the next connect as well (`performLater`).
final class RedisClient: Activity {
  private enum Phase {
    case connecting
    case up
    case down(RedisFailure)
    case stopped
  }

  /// A change for which no caller waits: the end of a claim, or the removal of a claim that counts as not made but may
  /// be in the store.
  struct DeferredChange {
    let operation: RedisOperation
    let epoch: EpochID
    /// Called with the reply, if there is one.
    let onReply: (@Sendable (RESPReply) -> Void)?
  }

  private let store: RedisStore
  private let poller: Poller
  private let waiter: Waiter
  /// Limits the TLS handshake steps of this client in one turn of the loop.
  private let gate: HandshakeGate
  private let handshake: RedisHandshake
  /// The number of replicas that must have a write; 0 if there is no such condition.
  private let replicas: Int
  private let hasSentinels: Bool
  private var phase = Phase.connecting
  /// Operations that wait for a connection.
  private var connectionWaiters: [Waiter] = []
  /// The commands that are sent next.
  private var calls: [RedisCall] = []
  /// The batches that were sent and whose replies have not all arrived.
  private var batches: [RedisBatch] = []
  private var deferredChanges: [DeferredChange] = []
  /// The time at which the changes that the server has refused are sent again.
  private var nextAttempt = MonotonicTime(milliseconds: 0)
  /// True while `run` waits for the socket, for commands or for the end of a pause.
  private var isSuspended = false
  private var backoff = Backoff()
  /// The number of operations in progress.
  private var operations = 0

  init(_ store: RedisStore, _ poller: Poller) {
    self.store = store
    self.poller = poller
    waiter = Waiter(poller)
    gate = HandshakeGate(poller)
    handshake = RedisHandshake(settings: store.settings, epochKey: store.epochKey)
    replicas = store.settings.requiredReplicas
    if case .sentinels = store.settings.endpoint { hasSentinels = true } else { hasSentinels = false }
  }

  private var isStopped: Bool { if case .stopped = phase { true } else { false } }

  /// Ends the connection. All later operations fail.
  func stop() {
    phase = .stopped
    if isSuspended { waiter.resume(.ready) }
    wakeConnectionWaiters()
  }

  // MARK: Operations

  /// Performs an operation. Repeats the operation if its outcome is unknown and `isRepeatable` permits a repeat.
  ///
  /// - Parameters:
  ///   - epoch: the epoch in which the operation is valid; in another one it fails.
  ///   - charged: the charge of the entry that the operation stores, if there is one.
  func perform(
    _ operation: RedisOperation, in epoch: EpochID, charged: RedisCharge? = nil
  ) async throws(RedisFailure) -> RESPReply {
    guard operations < RedisLimits.maximumOperations else { throw .overloaded }
    operations += 1
    defer { operations -= 1 }
    let deadline = poller.deadline(after: RedisLimits.operationTimeout)
    var mayHaveRun = false
    var sendsScript = false
    var lastFailure = RedisFailure.noReply
    do throws(RedisFailure) {
      while true {
        try await waitUntilConnected(until: deadline, lastFailure: lastFailure, waitsWhileDown: mayHaveRun)
        let words = operation.words(isRepeat: mayHaveRun, sendsScript: sendsScript)
        let call = RedisCall(words, isWrite: operation.isWrite, isRepeat: mayHaveRun, epoch: epoch, poller)
        add(call)
        switch await call.wait(until: deadline) {
        case .answered(.error(let text)):
          // A second time, the server refuses the script itself.
          if text.hasPrefix("NOSCRIPT"), !sendsScript, poller.now < deadline {
            sendsScript = true
            continue
          }
          // The server did not execute the command. If the server does not serve requests at the moment, another server
          // may be the primary now, so the operation is tried again.
          let failure = RedisFailure(reply: text)
          guard case .notServing = failure, poller.now < deadline else { throw failure }
        case .answered(let reply):
          // An earlier attempt of this `put` has stored the value that the server now returns as the existing one. So
          // the caller gets the reply of a `put` that found no value.
          if mayHaveRun, case .put(_, let value, _) = operation, reply == .bytes(value) { return .null }
          return reply
        case .failed(let failure, let wasSent):
          mayHaveRun = mayHaveRun || wasSent
          lastFailure = failure
          let isFinal = failure == .otherEpoch || failure.kind == .misconfigured
          guard !isFinal, !mayHaveRun || operation.isRepeatable, poller.now < deadline else {
            throw failure
          }
        case nil:
          mayHaveRun = true
          throw lastFailure
        }
      }
    } catch {
      if mayHaveRun {
        charged?.recordThatItMayHaveRun()
        removeClaimLater(operation, epoch, charged)
      }
      throw error
    }
  }

  /// Waits for the connection.
  ///
  /// - Parameters:
  ///   - lastFailure: the failure of the last attempt, which is thrown after the deadline.
  ///   - waitsWhileDown: true for an operation that may have been executed: only a connection can show if it was.
  private func waitUntilConnected(
    until deadline: Deadline, lastFailure: RedisFailure, waitsWhileDown: Bool
  ) async throws(RedisFailure) {
    while true {
      switch phase {
      case .up: return
      case .down(let failure) where !waitsWhileDown: throw failure
      case .stopped: throw .unreachable("the store is shut down")
      case .connecting, .down:
        let connectionWaiter = Waiter(poller)
        connectionWaiters.append(connectionWaiter)
        let wake = await connectionWaiter.sleep(until: deadline)
        connectionWaiter.cancelDeadline()
        if wake == .timedOut {
          connectionWaiters.removeAll { $0 === connectionWaiter }
          throw lastFailure
        }
      }
    }
  }

  private func add(_ call: RedisCall) {
    calls.append(call)
    if isSuspended {
      isSuspended = false
      waiter.resume(.ready)
    }
  }

  private func wakeConnectionWaiters() {
    let waiting = connectionWaiters
    connectionWaiters = []
    for waiter in waiting { waiter.resume(.ready) }
  }

  /// Removes a claim of unknown outcome once the server answers, so that the client can repeat its request. Does
  /// nothing for other operations.
  private func removeClaimLater(_ operation: RedisOperation, _ epoch: EpochID, _ charged: RedisCharge?) {
    guard case .put(let key, let value, _) = operation, store.isClaim(key) else { return }
    performLater(.remove(key: key, value: value), in: epoch) { [budgets = store.budgets] reply in
      // The value is no longer in the store, or never was.
      if let charged, case .integer = reply { budgets.undo(charged.charge) }
    }
  }

  /// Performs an operation now if there is a connection, otherwise after the next connect, in the same epoch. If the
  /// connection ends before the reply, the operation is repeated. Only for operations that compare the value first, so
  /// that a second execution has no effect, or that remove an evicted entry.
  ///
  /// - Parameter onReply: called with the reply. For `.remove`, the reply is 1 if the key has no value afterwards.
  func performLater(
    _ operation: RedisOperation, in epoch: EpochID, onReply: (@Sendable (RESPReply) -> Void)? = nil
  ) {
    guard deferredChanges.count < RedisLimits.maximumDeferredChanges else { return }
    deferredChanges.append(DeferredChange(operation: operation, epoch: epoch, onReply: onReply))
    if case .up = phase { performDeferredChanges() }
  }

  /// Keeps the changes of a batch that the server has refused, e.g. for lack of memory.
  private func keepRefusedChanges(of batch: RedisBatch) {
    for call in batch.calls {
      guard let change = call.deferredChange, case .answered(.error) = call.outcome,
        deferredChanges.count < RedisLimits.maximumDeferredChanges
      else { continue }
      deferredChanges.append(change)
      nextAttempt = poller.now + RedisLimits.deferredPause
    }
  }

  private func performDeferredChanges() {
    for change in deferredChanges {
      // Sends the script itself, because no operation waits for the reply to repeat the call after `NOSCRIPT`. The
      // command counts as a repeat, because an earlier one may have been executed.
      let words = change.operation.words(isRepeat: true, sendsScript: true)
      add(RedisCall(words, isWrite: true, isRepeat: false, epoch: change.epoch, deferred: change, poller))
    }
    deferredChanges = []
  }

  // MARK: The connection

  func run() async {
    while !isStopped {
      do throws(RedisFailure) {
        let (link, greeting) = try await connect()
        defer { link.close() }
        // `stop` may have been called during the connect.
        if isStopped { break }
        phase = .up
        store.condition.recordConnection(greeting)
        store.presence.recordConnection(greeting.epoch.id, now: SystemClock.monotonicTime())
        performDeferredChanges()
        wakeConnectionWaiters()
        try await serve(link, greeting.epoch)
      } catch {
        await handleFailure(error)
      }
    }
    failCalls(.unreachable("the store is shut down"))
    waiter.cancelDeadline()
  }

  private func connect() async throws(RedisFailure) -> (RedisLink, RedisHandshake.Greeting) {
    let endpoint = try await store.servers.primary(poller, waiter, gate)
    let deadline = poller.deadline(after: RedisLimits.connectTimeout)
    let link = try await store.servers.open(endpoint, poller, waiter, gate, until: deadline)
    do throws(RedisFailure) {
      return (link, try await handshake.perform(on: link, until: deadline))
    } catch {
      link.close()
      throw error
    }
  }

  /// Sends commands and receives replies until the connection ends.
  private func serve(_ link: RedisLink, _ epoch: RedisEpoch) async throws(RedisFailure) {
    let epochValue = epoch.bytes
    while !isStopped {
      guard epoch.id == store.epoch else {
        // Another worker has found a later primary.
        throw .otherEpoch
      }
      if !deferredChanges.isEmpty, nextAttempt <= poller.now { performDeferredChanges() }
      appendBatch(link, epoch.id)
      try link.flush()
      try link.receive { reply throws(RedisFailure) in try handle(reply, epoch: epochValue) }
      // Also if bytes have come, because a server may send a reply byte by byte.
      if let first = batches.first, first.due <= poller.now { throw .noReply }
      guard calls.isEmpty else { continue }
      var deadline = batches.first.map { $0.due } ?? .never
      if let nextWrite = store.presence.nextWrite { deadline = min(deadline, nextWrite) }
      if !deferredChanges.isEmpty { deadline = min(deadline, nextAttempt) }
      isSuspended = true
      _ = await link.wait(until: deadline)
      isSuspended = false
    }
  }

  /// Makes a batch of the waiting commands, if there are any, and appends it to the output of the connection. Fails the
  /// commands of another epoch.
  private func appendBatch(_ link: RedisLink, _ epoch: EpochID) {
    var current: [RedisCall] = []
    if let write = store.presence.dueWrite(hasCommands: !calls.isEmpty, now: poller.now) {
      let words = [
        Words.set, store.presenceKey(write.claimant), Words.one, Words.px, Words.number(RedisLimits.presenceLifetime),
      ]
      // In front of the claims, so that the key exists before them. Its value 1 has no meaning.
      current.append(RedisCall(words, isWrite: true, isRepeat: false, epoch: epoch, presence: write, poller))
    }
    for call in calls where !call.isAbandoned {
      if call.epoch == epoch { current.append(call) } else { call.finish(.failed(.otherEpoch, wasSent: false)) }
    }
    calls = []
    guard !current.isEmpty else { return }
    let limit = RedisLimits.replyTimeout + (replicas > 0 ? RedisLimits.replicaTimeout : 0)
    let batch = RedisBatch(current, replicas: replicas, due: poller.now + limit)
    for call in current { link.append(call.words) }
    // The value 1 has no meaning. The key of the fence ends after a second, because no command reads it.
    if batch.hasFence { link.append([Words.set, store.fenceKey, Words.one, Words.px, Words.number(1_000)]) }
    link.append([Words.get, store.epochKey])
    if let replicas = batch.replicas {
      link.append([Words.wait, Words.number(replicas), Words.number(RedisLimits.replicaTimeout)])
    }
    batches.append(batch)
  }

  /// Assigns a reply to the oldest batch. With the last reply of a batch, passes the outcomes to the calls.
  private func handle(_ reply: RESPReply, epoch: [UInt8]) throws(RedisFailure) {
    guard !batches.isEmpty else { throw .unexpectedReply("to no command") }
    guard batches[0].add(reply) else { return }
    let batch = batches.removeFirst()
    defer { keepRefusedChanges(of: batch) }
    try batch.settle(epoch: epoch, hasSentinels: hasSentinels)
    // Not reached if `settle` throws, e.g. because the server refuses all commands. The pause between attempts to
    // connect then keeps growing. If the pause were reset in this case too, the gateway would reconnect
    // immediately each time.
    backoff.reset()
  }

  /// Fails all calls and decides when to connect again.
  private func handleFailure(_ failure: RedisFailure) async {
    let wasUp = if case .up = phase { true } else { false }
    failCalls(failure)
    guard !isStopped else { return }
    let pause = backoff.pause(random: randomBytes(1)[0])
    if wasUp, pause <= RedisLimits.firstPause {
      // A connection that has worked is restored without a pause.
      phase = .connecting
      return
    }
    phase = .down(failure)
    store.condition.recordConnectFailure(failure, now: poller.now)
    wakeConnectionWaiters()
    isSuspended = true
    _ = await waiter.sleep(until: poller.deadline(after: pause))
    isSuspended = false
  }

  /// Fails all calls. If no caller waits for a call, keeps its operation and performs it after the next connect.
  private func failCalls(_ failure: RedisFailure) {
    let (sent, waiting) = (batches, calls)
    batches = []
    calls = []
    for call in sent.flatMap(\.calls) + waiting {
      guard let change = call.deferredChange, deferredChanges.count < RedisLimits.maximumDeferredChanges
      else { continue }
      deferredChanges.append(change)
    }
    for batch in sent { batch.fail(failure) }
    for call in waiting { call.finish(.failed(failure, wasSent: false)) }
  }
}
