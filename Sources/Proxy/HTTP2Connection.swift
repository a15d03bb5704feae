import HTTP
import HTTP1
import HTTP2
import Reactor
import Telemetry
import Time

/// One HTTP/2 connection of a client.
///
/// Theory of operation. The session (`HTTP2Session`) reads and writes frames. Each stream has a separate task that runs
/// the same code as an HTTP/1.1 connection, over an `HTTP2StreamTransport`. The task of this object moves bytes between
/// socket and session. It waits for the socket; a stream that has data to send wakes it, so that the output of several
/// streams in a turn is sent in one system call. Without streams the connection parks, as an HTTP/1.1 connection does.
/// The session keeps the objects of closed streams for later streams of this connection. The transport and the task of a
/// stream stay with its object, so they are reused together with it, and never for another connection.
final class HTTP2Connection: Activity {
  enum Life {
    /// The task of the connection runs, or waits for an event.
    case active
    /// The connection had no stream for a second, or idle connections must release their memory. The next step parks
    /// the connection unless there is work.
    case aboutToPark
    /// The connection has neither task nor buffers; an event of the socket or the timer starts a task again.
    case parked
    case ended
  }

  /// The graceful end (RFC 9113, section 6.8).
  enum Shutdown {
    case none
    /// The first GOAWAY, which asks the client to open no more streams, was queued. Once the worker drains or the
    /// maximum number of requests is reached, the final GOAWAY follows when the client has acknowledged the first one,
    /// at the latest at the deadline.
    case announced(until: Deadline)
    /// The final GOAWAY, which names the last stream that is served, was queued.
    case final
  }

  /// While memory is short, the check that the client accepts its responses fast enough (`MemoryWatch`).
  private enum MemoryCheck {
    case inactive
    /// `sentBytesAtStart`: the number of response bytes that had been sent when the check began.
    case running(sentBytesAtStart: Int)
    /// The client has accepted too few bytes: the connection is ended.
    case failed
  }

  let worker: ProxyWorker
  // Cached to avoid a retain and release per use.
  let metrics: any ProxyMetrics
  /// The field section of the response that is being sent.
  let block: FieldBlock
  let socket: Socket
  /// The object of the accepted TCP connection. It keeps the client's identity and the bytes received so far.
  let acceptedConnection: ServerConnection
  /// `nil` if the session could not be created; the connection then ends at once.
  let session: HTTP2Session?
  let waiter: Waiter
  let input: Buffer
  let output = Buffer()
  /// The transports of streams, in no particular order: those of open streams, and spare ones. `HTTP2Stream.callerIndex`
  /// is the index.
  var transports: [HTTP2StreamTransport] = []
  /// The number of transports that are in use.
  var streams = 0
  /// The number of tasks that serve a stream.
  var streamTasks = 0
  /// The number of streams that no task serves any more and that are not closed: the response is not sent completely,
  /// or the client has not ended its request.
  var streamsWithoutTask = 0
  var life = Life.active
  var shutdown = Shutdown.none
  private var memoryCheck = MemoryCheck.inactive
  /// The number of streams that were begun on this connection.
  var requests = 0
  var timer: Timer?
  /// The number of bytes moved since the last yield.
  private var moved = 0
  /// Measures how the client receives the output.
  private var meter = ProgressMeter()
  var deadlines = HTTP2Deadlines()

  /// The number of moved bytes after which the task lets other tasks run.
  private static let yieldAfter = 64 * 1024
  /// The time after which an idle connection parks.
  private static let parkDelay: Milliseconds = 1_000

  init(_ acceptedConnection: ServerConnection) {
    self.acceptedConnection = acceptedConnection
    socket = acceptedConnection.socket
    worker = acceptedConnection.worker
    metrics = acceptedConnection.worker.metrics
    input = acceptedConnection.input
    waiter = Waiter(worker.poller)
    block = FieldBlock(worker.poller.buffers)
    let configuration = worker.settings.configuration
    session = HTTP2Session(
      configuration.http2 ?? HTTP2Limits(), keepsTrailers: configuration.forwardsTrailers, worker.poller.buffers)
    // The same time limit as for the first request of an HTTP/1.1 connection.
    deadlines.idle = worker.poller.deadline(after: worker.settings.configuration.headerTimeout)
    socket.observer = self
    metrics.http2ConnectionOpened()
  }

  var poller: Poller { worker.poller }
  var configuration: ProxyConfiguration { worker.settings.configuration }

  func run() async {
    life = .active
    guard let session else { return end() }
    do throws(HTTP2Failure) {
      while true {
        try process(session)
        // Connections that send in the same turn do so one right after the other.
        if !output.isEmpty { await waiter.joinSendBatch() }
        switch try step(session) {
        case .again: continue
        case .yield: await waiter.yieldShare()
        case .wait: try await wait(session)
        case .park: if park() { return }
        case .close: return await close()
        }
      }
    } catch {
      if case .flood(let flood) = error {
        metrics.recordLimit(limit(flood))
        // Try once to send the GOAWAY with the reason.
        breakStreams()
        do throws(HTTP2Failure) { _ = try flush(session) } catch { socket.reset() }
        return await close()
      }
      socket.reset()
    }
    end()
  }

  private func limit(_ flood: HTTP2Flood) -> LimitKind {
    switch flood {
    case .resets: .streamResets
    case .controlFrames: .controlFrames
    case .continuations, .fields: .fieldSections
    case .withheldCredit: .bufferMemory
    }
  }

  // MARK: One turn

  private enum Step {
    case again
    case yield
    case wait
    case park
    case close
  }

  /// Processes the received bytes, and produces the frames to send.
  private func process(_ session: HTTP2Session) throws(HTTP2Failure) {
    if !input.isEmpty {
      try input.withSpan { (bytes: Span<UInt8>) throws(HTTP2Failure) in try session.receive(bytes, now: poller.now) }
      input.clear()
      dispatch(session)
    }
    try produce(session)
  }

  private func produce(_ session: HTTP2Session) throws(HTTP2Failure) {
    guard poller.buffers.ensureBlock(in: output) else { throw .broken }
    output.compact()
    if session.wantsToSend { try session.produce(into: output) }
    dispatch(session)
  }

  /// Sends, and receives more bytes.
  private func step(_ session: HTTP2Session) throws(HTTP2Failure) -> Step {
    if case .failed = memoryCheck {
      session.endConnection(.enhanceYourCalm)
      throw .flood(.withheldCredit)
    }
    announceEnd(session)
    let isSent = try flush(session)
    if isSent, session.hasEnded || isShutDown && streams == 0 && !session.wantsToSend { return .close }
    if moved >= HTTP2Connection.yieldAfter {
      moved = 0
      return .yield
    }
    if socket.satisfies(.readable) {
      switch receive() {
      case .moved: return .again
      case .wouldBlock: return .wait
      case .ended: return .close
      case .failed: throw .broken
      }
    }
    let isIdle = isSent && streams == 0 && !session.awaitsFields && !isEnding
    return isIdle && life == .aboutToPark ? .park : .wait
  }

  /// True if the graceful end has begun.
  private var isEnding: Bool {
    if case .none = shutdown { false } else { true }
  }

  /// True if the final GOAWAY was queued.
  var isShutDown: Bool {
    if case .final = shutdown { true } else { false }
  }

  private func receive() -> Transfer {
    guard poller.buffers.ensureBlock(in: input) else { return .failed(.noMemory) }
    let result = socket.receive(into: input)
    if case .moved(let count) = result { moved += count }
    return result
  }

  /// Sends as much as possible. Returns false if the client accepts no more for now.
  private func flush(_ session: HTTP2Session) throws(HTTP2Failure) -> Bool {
    while true {
      if output.isEmpty { try produce(session) }
      if output.isEmpty {
        meter.update(isAwaited: false, now: poller.now, count: clientBytes)
        return true
      }
      switch socket.send(output) {
      case .moved(let count): moved += count
      case .wouldBlock:
        meter.update(isAwaited: true, now: poller.now, count: clientBytes)
        // Checked here too: if the client keeps sending, no wait ever times out.
        try checkStall()
        return false
      case .ended, .failed: throw .broken
      }
    }
  }

  private func clientBytes() -> Int { socket.acknowledged }

  private var progressLimits: ProgressMeter.Limits { worker.settings.exchangeTimeouts.progress }

  /// Throws if the client has accepted nothing for too long.
  private func checkStall() throws(HTTP2Failure) {
    guard
      meter.hasStalled(
        progressLimits, now: poller.now, count: clientBytes, unit: { self.socket.acknowledgementUnit })
    else { return }
    metrics.recordLimit(.bodyTimeout)
    throw .broken
  }

  // MARK: Memory check

  /// Starts to measure how fast the client accepts its responses, because memory is short.
  func beginMemoryCheck() {
    if case .failed = memoryCheck { return }
    memoryCheck = .inactive
    if let session, session.responseMemory > 0 { memoryCheck = .running(sentBytesAtStart: session.sentBytes) }
  }

  /// Ends the connection if its client has accepted less than `bytes` since `beginMemoryCheck` and the connection still
  /// holds responses.
  func endMemoryCheck(minimum bytes: Int) {
    guard case .running(let before) = memoryCheck, let session else { return }
    let isSlow = session.responseMemory > 0 && session.sentBytes - before < bytes
    memoryCheck = isSlow ? .failed : .inactive
    if isSlow { wake() }
  }

  // MARK: Waiting

  private func wait(_ session: HTTP2Session) async throws(HTTP2Failure) {
    deadlines.update(awaitsFields: session.awaitsFields, until: poller.deadline(after: configuration.headerTimeout))
    let wake: Wake
    if streams == 0, !meter.isRunning, !deadlines.awaitsFields, !isEnding {
      let parkTime = poller.deadline(after: HTTP2Connection.parkDelay)
      wake = await waiter.waitIdle(socket, until: min(parkTime, deadlines.idle ?? parkTime))
      life = wake == .park || wake == .timedOut ? .aboutToPark : .active
    } else {
      let isBlocked = !output.isEmpty
      let check = meter.beginWait(progressLimits, isAwaited: isBlocked, now: poller.now)
      wake = await waiter.wait(socket, isBlocked ? [.readable, .writable] : .readable, until: min(nextDeadline, check))
      if meter.isTooSlow(
        progressLimits, now: poller.now, count: clientBytes, unit: { self.socket.acknowledgementUnit })
      {
        metrics.recordLimit(.minimumRate)
        throw .broken
      }
    }
    if wake == .timedOut { try expire(session) }
  }

  private var nextDeadline: Deadline {
    var next = deadlines.first
    if case .announced(let deadline) = shutdown { next = min(next, deadline) }
    if streamsWithoutTask > 0 {
      for transport in transports where transport.hasNoTask { next = min(next, transport.deadline) }
    }
    return next
  }

  private func expire(_ session: HTTP2Session) throws(HTTP2Failure) {
    try checkStall()
    if deadlines.fieldsTimedOut(at: poller.now) {
      metrics.recordLimit(.headerTimeout)
      session.endConnection(.enhanceYourCalm)
    }
    if deadlines.idle.hasPassed(at: poller.now) {
      metrics.recordLimit(.idleTimeout)
      deadlines.idle = nil
      session.shutDown()
      shutdown = .final
    }
    for transport in transports where transport.hasNoTask && transport.deadline.hasPassed(at: poller.now) {
      transport.clearDeadline()
      if !transport.stream.responseSentEarly { metrics.recordLimit(.bodyTimeout) }
      // A server may end its reading of a request with NO_ERROR after the complete response (RFC 9113, section 8.1).
      session.reset(transport.stream, transport.stream.responseSentEarly ? .noError : .cancel)
    }
  }
}
