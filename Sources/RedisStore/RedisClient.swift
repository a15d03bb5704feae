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
/// jobs of the loop's turn. It sends all commands at once, followed by the commands that decide if they count
/// (`RedisBatch`). The replies arrive in the order of the commands, so a queue of batches assigns each reply to its
/// call.
///
///     connecting --> up --(connection ends)--> connecting --(fails)--> down --(pause)--> down ...
///
/// While the connection is restored, operations wait for it. After an attempt has failed, new operations fail
/// immediately. If a connection ends, its last commands may have been executed: operations that recognise their own
/// effect are repeated until their deadline, and the others fail. A claim whose outcome stays unknown is removed after
/// the next connect; its request has not sent anything upstream. Other changes that must not be lost wait for the next
/// connect as well (`performLater`).
final class RedisClient: Activity {
  private enum Phase {
    case connecting
    case up
    case down(RedisFailure)
    case stopped
  }

  /// A change without a waiting caller: the removal of a claim that counts as not made but may be in the store, or the
  /// end of a claim.
  struct Leftover {
    let operation: RedisOperation
    let epoch: EpochID
  }

  private let store: RedisStore
  private let poller: Poller
  private let waiter: Waiter
  private let gate: HandshakeGate
  private let handshake: RedisHandshake
  private let replicas: Int
  private let hasSentinels: Bool
  private var phase = Phase.connecting
  /// Operations that wait for a connection.
  private var newcomers: [Waiter] = []
  /// Operations whose commands the next send carries.
  private var calls: [RedisCall] = []
  private var batches: [RedisBatch] = []
  private var leftovers: [Leftover] = []
  /// True while this activity waits for the socket or for commands.
  private var isResting = false
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
    if case .sentinels = store.settings.place { hasSentinels = true } else { hasSentinels = false }
  }

  private var isStopped: Bool { if case .stopped = phase { true } else { false } }

  /// Ends the connection. All later operations fail.
  func stop() {
    phase = .stopped
    if isResting { waiter.resume(.ready) }
    wakeNewcomers()
  }

  // MARK: Operations

  /// Performs an operation. Repeats it if its outcome is unknown and it may be repeated.
  ///
  /// - Parameter epoch: the epoch in which the operation is valid; in another one it fails.
  func perform(_ operation: RedisOperation, in epoch: EpochID) async throws(RedisFailure) -> RESPReply {
    guard operations < RedisLimits.operations else { throw .overloaded }
    operations += 1
    defer { operations -= 1 }
    let deadline = poller.deadline(after: RedisLimits.operation)
    var mayHaveRun = false
    var sendsScript = false
    var last = RedisFailure.silent
    do throws(RedisFailure) {
      while true {
        try await ready(until: deadline, last, waitsWhileDown: mayHaveRun)
        let words = operation.words(isRepeat: mayHaveRun, sendsScript: sendsScript)
        let call = RedisCall(words, isWrite: operation.isWrite, isRepeat: mayHaveRun, epoch: epoch, poller)
        add(call)
        switch await call.wait(until: deadline) {
        case .answered(.error(let text)):
          if text.hasPrefix("NOSCRIPT") {
            sendsScript = true
            continue
          }
          // The server did not execute the command. If it is away, another server may be the primary now.
          let failure = RedisFailure(reply: text)
          guard case .away = failure, poller.now < deadline else { throw failure }
        case .answered(let reply):
          if mayHaveRun, case .put(_, let value, _) = operation, reply == .bytes(value) { return .null }
          return reply
        case .failed(let failure, let wasSent):
          mayHaveRun = mayHaveRun || wasSent
          last = failure
          let isFinal = failure == .otherEpoch || failure.kind == .misconfigured
          guard !isFinal, !mayHaveRun || operation.isRepeatable, poller.now < deadline else {
            throw failure
          }
        case nil:
          mayHaveRun = true
          throw last
        }
      }
    } catch {
      if mayHaveRun { leave(operation, epoch) }
      throw error
    }
  }

  /// Waits for the connection.
  ///
  /// - Parameters:
  ///   - last: the failure of the last attempt.
  ///   - waitsWhileDown: true for an operation that may have been executed, so that it can find out.
  private func ready(
    until deadline: Deadline, _ last: RedisFailure, waitsWhileDown: Bool
  ) async throws(RedisFailure) {
    while true {
      switch phase {
      case .up: return
      case .down(let failure) where !waitsWhileDown: throw failure
      case .stopped: throw .unreachable("the store is shut down")
      case .connecting, .down:
        let newcomer = Waiter(poller)
        newcomers.append(newcomer)
        let wake = await newcomer.sleep(until: deadline)
        newcomer.cancelDeadline()
        if wake == .timedOut {
          newcomers.removeAll { $0 === newcomer }
          throw last
        }
      }
    }
  }

  private func add(_ call: RedisCall) {
    calls.append(call)
    if isResting {
      isResting = false
      waiter.resume(.ready)
    }
  }

  private func wakeNewcomers() {
    let waiting = newcomers
    newcomers = []
    for newcomer in waiting { newcomer.resume(.ready) }
  }

  /// Records a claim of unknown outcome, so that it can be removed and the client can repeat its request.
  private func leave(_ operation: RedisOperation, _ epoch: EpochID) {
    guard case .put(let key, let value, _) = operation, store.isClaim(key) else { return }
    performLater(.remove(key: key, value: value), in: epoch)
  }

  /// Performs an operation now if there is a connection, otherwise after the next connect, in the same epoch. If the
  /// connection ends before the reply, the operation is repeated: it compares the value, so a second execution has no
  /// effect. Its outcome is not reported.
  func performLater(_ operation: RedisOperation, in epoch: EpochID) {
    guard leftovers.count < RedisLimits.leftovers else { return }
    leftovers.append(Leftover(operation: operation, epoch: epoch))
    if case .up = phase { performLeftovers() }
  }

  private func performLeftovers() {
    for leftover in leftovers {
      // Sends the script itself, because no operation waits for the reply to repeat the call after `NOSCRIPT`.
      let words = leftover.operation.words(isRepeat: false, sendsScript: true)
      add(
        RedisCall(
          words, isWrite: true, isRepeat: false, epoch: leftover.epoch, leftover: leftover.operation, poller))
    }
    leftovers = []
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
        store.condition.connected(greeting)
        performLeftovers()
        wakeNewcomers()
        try await serve(link, greeting.epoch)
      } catch {
        await lost(error)
      }
    }
    end(.unreachable("the store is shut down"))
    waiter.cancelDeadline()
  }

  private func connect() async throws(RedisFailure) -> (RedisLink, RedisHandshake.Greeting) {
    let place = try await store.servers.primary(poller, waiter, gate)
    let deadline = poller.deadline(after: RedisLimits.connect)
    let link = try await store.servers.open(place, poller, waiter, gate, until: deadline)
    do throws(RedisFailure) {
      return (link, try await handshake.perform(on: link, until: deadline))
    } catch {
      link.close()
      throw error
    }
  }

  /// Sends commands and receives replies until the connection ends.
  private func serve(_ link: RedisLink, _ epoch: RedisEpoch) async throws(RedisFailure) {
    let text = epoch.bytes
    while !isStopped {
      guard epoch.id == store.epoch else {
        // Another worker has found a later primary.
        throw .otherEpoch
      }
      compose(link, epoch.id)
      try link.flush()
      try link.receive { reply throws(RedisFailure) in try take(reply, text) }
      guard calls.isEmpty else { continue }
      let deadline = batches.first.map { $0.due } ?? .never
      isResting = true
      let isInTime = await link.wait(until: deadline)
      isResting = false
      if !isInTime, let first = batches.first, first.due <= poller.now { throw .silent }
    }
  }

  private func compose(_ link: RedisLink, _ epoch: EpochID) {
    guard !calls.isEmpty else { return }
    var current: [RedisCall] = []
    for call in calls where !call.isAbandoned {
      if call.epoch == epoch { current.append(call) } else { call.finish(.failed(.otherEpoch, wasSent: false)) }
    }
    calls = []
    guard !current.isEmpty else { return }
    let limit = RedisLimits.reply + (replicas > 0 ? RedisLimits.wait : 0)
    let batch = RedisBatch(current, replicas: replicas, due: poller.now + limit)
    for call in current { link.append(call.words) }
    if batch.hasFence { link.append([Words.set, store.fenceKey, Words.one, Words.px, Words.number(1_000)]) }
    link.append([Words.get, store.epochKey])
    if let replicas = batch.replicas {
      link.append([Words.wait, Words.number(replicas), Words.number(RedisLimits.wait)])
    }
    batches.append(batch)
  }

  private func take(_ reply: RESPReply, _ epoch: [UInt8]) throws(RedisFailure) {
    guard !batches.isEmpty else { throw .malformed("to no command") }
    guard batches[0].add(reply) else { return }
    try batches.removeFirst().settle(epoch: epoch, hasSentinels: hasSentinels)
    // Not for a server that refuses commands: it would be asked again without a pause.
    backoff.reset()
  }

  /// Fails all calls and decides when to connect again.
  private func lost(_ failure: RedisFailure) async {
    let wasUp = if case .up = phase { true } else { false }
    end(failure)
    guard !isStopped else { return }
    let pause = backoff.pause(random: randomBytes(1)[0])
    if wasUp, pause <= RedisLimits.firstPause {
      // A connection that has worked is restored without a pause.
      phase = .connecting
      return
    }
    phase = .down(failure)
    store.condition.lost(failure, now: poller.now)
    wakeNewcomers()
    isResting = true
    _ = await waiter.sleep(until: poller.deadline(after: pause))
    isResting = false
  }

  private func end(_ failure: RedisFailure) {
    let (sent, waiting) = (batches, calls)
    batches = []
    calls = []
    for call in sent.flatMap(\.calls) + waiting {
      guard let operation = call.leftover, leftovers.count < RedisLimits.leftovers else { continue }
      leftovers.append(Leftover(operation: operation, epoch: call.epoch))
    }
    for batch in sent { batch.fail(failure) }
    for call in waiting { call.finish(.failed(failure, wasSent: false)) }
  }
}
