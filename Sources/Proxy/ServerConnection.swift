import HTTP
import HTTP1
import Reactor

/// One connection of a client, from its first byte to its close.
///
/// While a request is in progress or the next one is expected soon, it is a task. After that it is parked: registered,
/// with a deadline, but without a task and without a buffer; the next readable event starts a task again.
final class ServerConnection: Activity, SocketObserver, TimerOwner {
  let socket: Socket
  let worker: ProxyWorker
  let identity: ClientIdentity
  var state = ConnectionState()
  /// Received and not yet consumed; without a block while there is nothing.
  let input = Buffer()
  /// Whether `input` held a request that was intercepted, so that it is wiped.
  private var holdsSecrets = false
  /// Milliseconds after which an idle connection parks: longer than a busy client waits between two requests.
  private static let pauseLimit = 1_000
  private var timer: Timer?
  /// Pipelined requests that are answered in one go.
  private static let yieldAfter = 16
  let waiter: Waiter
  private var exchange: Exchange?

  init(_ socket: Socket, peer: Address, _ worker: ProxyWorker) {
    self.socket = socket
    self.worker = worker
    identity = ClientIdentity(peer, isTrusted: worker.settings.configuration.trusts(peer))
    waiter = Waiter(worker.poller)
    worker.metrics.connectionOpened()
  }

  deinit {
    worker.metrics.connectionClosed()
  }

  var poller: Poller { worker.poller }
  var settings: ProxySettings { worker.settings }

  func run() async {
    while true {
      switch await nextHead() {
      case .head(let head):
        let began = Clock.monotonicNanoseconds()
        switch route(head) {
        case .pass: await currentExchange().forward(head, began: began)
        case .answer(let response):
          input.consume(head.length)
          await answer(response, to: head.method, minorVersion: head.minorVersion, began: began, .answered)
        case .intercept(let bodyLimit): await intercept(head, bodyLimit: bodyLimit, began: began)
        }
        if state.next != .readHead {
          await finish()
          return
        }
        // Answers that need no upstream never suspend: a client that pipelines must not hold the worker up.
        if !input.isEmpty, state.requests % ServerConnection.yieldAfter == 0 { await waiter.yield() }
      case .refused(let failure):
        state.receivedHead(hasBody: true, keepsAlive: false)
        await answer(worker.handler.failure(failure), to: .get, minorVersion: 1, began: 0, .refused)
        await finish()
        return
      case .parked: return
      case .closed:
        close()
        return
      }
    }
  }

  // MARK: Heads

  private enum HeadOutcome {
    case head(RequestHead)
    case refused(ProxyFailure)
    case parked
    case closed
  }

  /// Waits for a head and parses it. Its bytes stay at the front of `input`.
  private func nextHead() async -> HeadOutcome {
    var scanner = HeadScanner()
    var deadline: Deadline?
    while true {
      if !input.isEmpty {
        switch parse(&scanner) {
        case .success(let head?): return .head(head)
        case .success(nil): break
        case .failure(let error): return .refused(.request(error))
        }
        if input.count >= Buffer.readSize {
          return .refused(.request(MessageError(status: 431, "a request head longer than \(Buffer.readSize) bytes")))
        }
        if input.readRoom == 0 { input.compact() }
        let until = deadline ?? poller.deadline(after: settings.configuration.headTimeout)
        deadline = until
        if await waiter.wait(socket, .readable, until: until) == .timedOut { return .refused(.timeout) }
      } else {
        if holdsSecrets { releaseInput() }
        let wake: Wake
        if state.requests == 0 {
          // The client has just connected: a drain must not take the request that is on its way.
          wake = await waiter.wait(socket, .readable, until: poller.deadline(after: settings.configuration.headTimeout))
        } else {
          wake = await waiter.waitIdle(socket, until: poller.deadline(after: pause))
        }
        switch wake {
        case .ready: break
        case .timedOut where state.requests > 0 && pause < settings.configuration.idleTimeout, .park:
          // Readable in the meantime: no further event would start a parked connection.
          if socket.satisfies(.readable) { break }
          if poller.isDraining { return .closed }
          park()
          return .parked
        case .timedOut, .draining: return .closed
        }
      }
      switch receive() {
      case .moved, .wouldBlock: continue
      case .ended, .failed: return .closed
      }
    }
  }

  /// A connection that pauses gives its task and buffers back, however few others are idle.
  private var pause: Int { min(ServerConnection.pauseLimit, settings.configuration.idleTimeout) }

  private func parse(_ scanner: inout HeadScanner) -> Result<RequestHead?, MessageError> {
    do throws(MessageError) {
      let head = try input.withSpan { (bytes: Span<UInt8>) throws(MessageError) -> RequestHead? in
        guard let length = try scanner.end(of: bytes, nextLineFeed: { input.nextLineFeed($0) }) else { return nil }
        return try RequestHeadParser.parse(bytes, length: length, into: worker.requestFields)
      }
      return .success(head)
    } catch {
      return .failure(error)
    }
  }

  /// Receives into `input`.
  func receive() -> Transfer {
    poller.buffers.fill(input)
    if input.readRoom == 0 { input.compact() }
    return socket.receive(into: input)
  }

  /// Gives the receive buffer back when nothing is in it.
  func releaseInput() {
    guard input.isEmpty else { return }
    if holdsSecrets { poller.buffers.wipeAndGiveBack(input) } else { poller.buffers.giveBack(input) }
    holdsSecrets = false
  }

  // MARK: Requests

  /// Decides what happens to the request whose head stands at the front of the input.
  private func route(_ head: RequestHead) -> Route {
    state.receivedHead(hasBody: head.body != .none, keepsAlive: head.keepsAlive)
    if worker.isWindingDown || poller.isDraining { state.refuseFurtherRequests() }
    let fields = worker.requestFields
    return input.withSpan { bytes -> Route in
      if RequestRewriter.isLoop(bytes, fields, settings) {
        return .answer(worker.handler.failure(.loop))
      }
      return worker.handler.route(head, bytes, fields, client: identity.facts(bytes, fields))
    }
  }

  private func intercept(_ head: RequestHead, bodyLimit: Int, began: UInt64) async {
    holdsSecrets = true
    var request = input.withSpan { RequestReader.read(head, $0, worker.requestFields, identity) }
    input.consume(head.length)
    do throws(ProxyFailure) {
      request.body = try await readBody(head, limit: bodyLimit)
    } catch {
      return await answer(
        worker.handler.failure(error), to: head.method, minorVersion: head.minorVersion, began: began, .refused)
    }
    let upstream = Upstream(self)
    switch await worker.handler.respond(to: request, upstream: upstream) {
    case .response(let response):
      await answer(response, to: head.method, minorVersion: head.minorVersion, began: began, .intercepted)
    case .relay(let answer, let response):
      await currentExchange().relay(answer, response, to: head, began: began)
    }
  }

  /// Reads a body whole.
  private func readBody(_ head: RequestHead, limit: Int) async throws(ProxyFailure) -> [UInt8] {
    if case .length(let count) = head.body, count > limit { throw .bodyTooLarge }
    var decoder = BodyDecoder(head.body)
    var body: [UInt8] = []
    if head.expectsContinue, input.isEmpty {
      // Small and the first thing on an idle connection: it fits the socket's buffer.
      let interim = poller.buffers.take()
      interim.append("HTTP/1.1 100 Continue\r\n\r\n")
      _ = socket.send(interim)
      poller.buffers.giveBack(interim)
    }
    let deadline = poller.deadline(after: settings.configuration.bodyTimeout)
    while !decoder.isFinished {
      if !input.isEmpty {
        let piece: BodyDecoder.Piece
        do throws(MessageError) {
          piece = try input.withSpan { (bytes: Span<UInt8>) throws(MessageError) in try decoder.decode(bytes) }
        } catch {
          throw .request(error)
        }
        guard body.count + piece.data.count <= limit else { throw .bodyTooLarge }
        body += input.bytes(from: piece.data.lowerBound, count: piece.data.count)
        input.consume(piece.consumed)
        continue
      }
      if await waiter.wait(socket, .readable, until: deadline) == .timedOut { throw .timeout }
      switch receive() {
      case .moved, .wouldBlock: continue
      case .ended, .failed: throw .request(MessageError(status: 400, "a body that ended early"))
      }
    }
    state.receivedBody()
    return body
  }

  // MARK: Answers

  /// Sends a response that the gateway holds whole.
  func answer(
    _ response: Response, to method: Method, minorVersion: Int, began: UInt64, _ handling: RequestHandling
  ) async {
    let buffer = poller.buffers.take()
    if poller.isDraining || worker.isWindingDown { state.refuseFurtherRequests() }
    buffer.append("HTTP/1.1 \(response.status) \(ReasonPhrase.of(response.status))\r\n")
    buffer.append("Date: \(worker.currentDate)\r\n")
    ResponseEncoder.appendFields(response.headers, to: buffer)
    ResponseRewriter.appendEnd(
      .length(response.body.count), status: response.status, keepsAlive: state.announcesKeepAlive,
      minorVersion: minorVersion, to: buffer)
    if !state.announcesKeepAlive { state.refuseFurtherRequests() }
    state.startedResponse()
    let body = method == .head || response.status == 204 || response.status == 304 ? [] : response.body
    var position = 0
    var isCut = false
    while true {
      let count = min(buffer.room, body.count - position)
      if count > 0 {
        buffer.append(body, in: position..<position + count)
        position += count
      }
      if buffer.isEmpty { break }
      guard await flush(buffer) else {
        isCut = true
        break
      }
    }
    poller.buffers.wipeAndGiveBack(buffer)
    if isCut { state.cutResponse() } else { state.finishedResponse() }
    let ended = began == 0 ? 0 : Clock.monotonicNanoseconds() - began
    worker.metrics.requestFinished(handling, status: response.status, nanoseconds: ended)
  }

  /// Sends all of the buffer; false when the client is gone or does not read.
  private func flush(_ buffer: Buffer) async -> Bool {
    while !buffer.isEmpty {
      switch socket.send(buffer) {
      case .moved: continue
      case .wouldBlock:
        let deadline = poller.deadline(after: settings.configuration.bodyTimeout)
        if await waiter.wait(socket, .writable, until: deadline) != .ready { return false }
      case .ended, .failed: return false
      }
    }
    return true
  }

  // MARK: The end of an exchange and of the connection

  /// Ends the connection as the state says.
  private func finish() async {
    switch state.next {
    case .readHead, .close: close()
    case .reset:
      releaseAll()
      socket.reset()
    case .drainAndClose:
      await linger()
      close()
    }
  }

  /// Reads a bounded part of what the client still sends: closing at once would send a reset, which can overtake the
  /// answer (RFC 9112, section 9.6).
  private func linger() async {
    socket.shutdownWrite()
    let deadline = poller.deadline(after: settings.configuration.lingerTimeout)
    var left = settings.configuration.lingerBytes
    input.clear()
    while left > 0 {
      switch receive() {
      case .moved(let count):
        left -= count
        input.clear()
      case .wouldBlock:
        if await waiter.wait(socket, .readable, until: deadline) != .ready { return }
      case .ended, .failed: return
      }
    }
  }

  private func currentExchange() -> Exchange {
    let exchange = exchange ?? Exchange(self)
    self.exchange = exchange
    return exchange
  }

  private func releaseAll() {
    exchange?.release()
    exchange = nil
    input.clear()
    releaseInput()
    waiter.retire()
  }

  private func close() {
    releaseAll()
    socket.close()
  }

  // MARK: Parking

  private func park() {
    waiter.retire()
    exchange?.release()
    exchange = nil
    releaseInput()
    let timer = self.timer ?? Timer()
    self.timer = timer
    socket.observer = self
    poller.arm(timer, for: self, after: settings.configuration.idleTimeout)
  }

  func socketIsReady(_ socket: Socket) {
    guard socket.satisfies(.readable) else { return }
    socket.observer = nil
    if let timer { poller.disarm(timer) }
    poller.start(self)
  }

  func workerIsDraining() {
    if let timer { poller.disarm(timer) }
    socket.close()
  }

  func timerExpired() {
    socket.close()
  }
}
