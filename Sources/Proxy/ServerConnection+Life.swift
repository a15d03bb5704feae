import HTTP1
import HTTP2
import Reactor
import Telemetry
import Time

/// The life of a connection between its requests: the wait for the next head, parking while it is idle, and the end.
extension ServerConnection {
  /// The time after which an idle connection parks: longer than a busy client waits between two requests.
  private static let parkDelay: Milliseconds = 1_000

  /// The number of received bytes above which the routing of a request may be expensive. To read the clock for each small
  /// request would cost more than it saves.
  private static let longHead = 512

  enum HeadOutcome {
    case head(RequestHead)
    /// The client has sent the preface of HTTP/2.
    case http2
    /// The client gets an error response, and then the connection is closed.
    case refused(ProxyFailure)
    /// A `ParkedConnection` has replaced this object.
    case parked
    /// The caller must close the connection without a response.
    case closed
  }

  /// Parses the head of a stream, which is complete when the stream begins. Returns `nil` for a connection, or if
  /// `nextHead` has to decide what follows.
  func headOfStream() -> RequestHead? {
    guard stream != nil, socket.satisfies(.readable), hasMemory, case .moved = receive() else { return nil }
    var scanner = HeadScanner()
    guard case .success(let head?) = parse(&scanner) else { return nil }
    return head
  }

  /// Waits for a head and parses it. The bytes of the head stay at the front of `input`.
  func nextHead() async -> HeadOutcome {
    var scanner = HeadScanner()
    // The deadline for the rest of a head whose first bytes have arrived.
    var headDeadline: Deadline?
    // The deadline for the first byte, kept for the whole wait: TLS records without data wake the task, but must not
    // extend the deadline.
    var firstByteDeadline: Deadline?
    while true {
      if !input.isEmpty {
        idleDeadline = .never
        decideProtocol()
        switch stage {
        case .http2: return .http2
        // More bytes are needed. The preface of HTTP/2 resembles a request head, so the bytes must not be parsed as a
        // head yet.
        case .undecided: break
        case .accepted, .http1, .http2Stream, .parked:
          // In front of the parsing, because other tasks use `requestFields` as well.
          if input.count > ServerConnection.longHead { await yieldInLongTurn() }
          switch parse(&scanner) {
          case .success(let head?): return .head(head)
          case .success(nil): break
          case .failure(let error): return .refused(.request(error))
          }
        }
        let limits = settings.configuration.limits.head
        if input.count >= min(Buffer.readSize, limits.bytes) {
          return .refused(.request(input.withSpan { RequestHeadParser.errorForOverlongHead($0, limits) }))
        }
        if input.receiveRoom == 0 { input.compact() }
        let until = headDeadline ?? poller.deadline(after: settings.configuration.headerTimeout)
        headDeadline = until
        if await waiter.wait(socket, .readable, until: until) == .timedOut { return .refused(.timeout) }
      } else {
        if holdsSecrets { releaseInput() }
        let wake: Wake
        if state.requestCount == 0 {
          // The client has just connected, so a drain must not discard a request that may be on its way.
          let until = firstByteDeadline ?? poller.deadline(after: settings.configuration.headerTimeout)
          firstByteDeadline = until
          wake = await waiter.wait(socket, .readable, until: until)
        } else {
          if idleDeadline == .never { idleDeadline = poller.deadline(after: settings.configuration.idleTimeout) }
          // `waitIdle` ends even earlier if too many connections are idle or memory is short.
          let parkTime = poller.deadline(after: ServerConnection.parkDelay)
          wake = await waiter.waitIdle(socket, until: min(parkTime, idleDeadline))
        }
        switch wake {
        // The request needs a buffer, and there is no memory for one.
        case .ready where !input.hasBlock && !hasMemory:
          switch chooseRefusal(for: .overloaded(.bufferMemory)) {
          case .refused(let failure): return .refused(failure)
          case .admitted, .closed: return .closed
          }
        case .ready: break
        // `parkTime` has passed before `idleDeadline`, or `waitIdle` has ended early.
        case .timedOut where state.requestCount > 0 && !idleDeadline.hasPassed(at: poller.now), .park:
          // If the socket is readable by now, no further event would wake a parked connection.
          if socket.satisfies(.readable) { break }
          if poller.isDraining { return .closed }
          park()
          return .parked
        case .timedOut:
          worker.metrics.recordLimit(state.requestCount == 0 ? .headerTimeout : .idleTimeout)
          return .closed
        case .draining:
          // A request whose bytes have already arrived is still answered, even if no event has reported them yet.
          guard case .moved = receive() else { return .closed }
          continue
        }
      }
      switch receive() {
      case .moved, .wouldBlock: continue
      case .ended, .failed: return .closed
      }
    }
  }

  private func parse(_ scanner: inout HeadScanner) -> Result<RequestHead?, MessageError> {
    do throws(MessageError) {
      let head = try input.withSpan { (bytes: Span<UInt8>) throws(MessageError) -> RequestHead? in
        guard let length = try endOfHead(bytes, &scanner) else { return nil }
        return try RequestHeadParser.parse(
          bytes, length: length, limits: settings.configuration.limits.head, into: requestFields)
      }
      return .success(head)
    } catch {
      return .failure(error)
    }
  }

  private func endOfHead(_ bytes: Span<UInt8>, _ scanner: inout HeadScanner) throws(MessageError) -> Int? {
    // The head of a stream arrives as a whole, and its length is known.
    if let length = stream?.headLength { return length }
    return try scanner.end(of: bytes)
  }

  /// Receives into `input`. Aborts the connection if there is no memory for it.
  func receive() -> Transfer {
    guard buffers.ensureBlock(in: input) else {
      socket.abort()
      return .failed(.noMemory)
    }
    if input.receiveRoom == 0 { input.compact() }
    let result = socket.receive(into: input)
    if case .moved(let count) = result { received &+= count }
    return result
  }

  /// Releases the receive buffer if it is empty.
  func releaseInput() {
    guard input.isEmpty else { return }
    if holdsSecrets { buffers.wipeAndGiveBack(input) } else { buffers.giveBack(input) }
    holdsSecrets = false
  }

  // MARK: Parking

  func park() {
    waiter.cancelDeadline()
    exchange?.release()
    exchange = nil
    releaseInput()
    stage = .parked
    // The socket keeps the object alive as its observer.
    _ = ParkedConnection(
      socket, worker, listener: listener, socketPeer: socketPeer, proxiedClient: proxiedClient, admission, state,
      idleDeadline: idleDeadline)
  }

  // MARK: The end

  /// Ends the connection in the way that the state requires. Also closes it if another request could follow.
  func finish() async {
    switch state.next {
    case .readHead: close()
    case .close:
      if closeMayLoseResponse { await linger() }
      close()
    case .reset:
      release()
      socket.reset()
    case .drainAndClose:
      await linger()
      close()
    }
  }

  /// True if closing immediately could cost the client the end of its response. An unread byte of the request makes
  /// the kernel reset the connection, and response bytes that the client has not received yet are lost (RFC 9112,
  /// section 9.6).
  private var closeMayLoseResponse: Bool {
    if case .http2Stream = stage { return false }
    guard state.hasStartedResponse, !socket.readiness.contains(.broken) else { return false }
    let mayHaveInput = exchange?.state.isTunnel ?? false || !input.isEmpty || socket.satisfies(.readable)
    return mayHaveInput || socket.unacknowledged > 0
  }

  /// Ends the sending side and discards further input, in bounded parts. After each part, continues only if the client
  /// has acknowledged more of the response meanwhile, but not yet all of it. Stops after `bodyTimeout` in any case.
  func linger() async {
    socket.shutdownWrite()
    exchange?.release()
    let end = poller.deadline(after: settings.configuration.bodyTimeout)
    var acknowledgedBefore = socket.acknowledged
    while await dropInput() {
      let acknowledged = socket.acknowledged
      guard socket.unacknowledged > 0, acknowledged > acknowledgedBefore, !end.hasPassed(at: poller.now) else { return }
      acknowledgedBefore = acknowledged
      // Let other tasks run before the next part.
      await waiter.yieldShare()
    }
  }

  /// Discards a bounded part of the client's input. Returns false if no more follows.
  private func dropInput() async -> Bool {
    let deadline = poller.deadline(after: settings.configuration.lingerTimeout)
    var left = settings.configuration.lingerBytes
    while left > 0 {
      input.clear()
      switch receive() {
      case .moved(let count): left -= count
      case .wouldBlock:
        releaseInput()
        if await waiter.wait(socket, .readable, until: deadline) != .ready { return true }
      case .ended, .failed: return false
      }
    }
    return true
  }
}
