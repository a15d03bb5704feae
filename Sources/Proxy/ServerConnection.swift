import HTTP
import HTTP1
import HTTP2
import Reactor
import TLS
import Telemetry

/// One connection of a client, from its first byte to its close.
///
/// While a request is in progress or the next one is expected soon, it is a task. After that it is parked: registered,
/// with a deadline, but without a task and without a buffer, as a `ParkedConnection`; the next readable event makes one of
/// these of it again.
final class ServerConnection: Activity {
  let socket: Socket
  /// The socket of the connection: for a stream that of the connection it is one of.
  private let carrier: Socket
  let worker: ProxyWorker
  private(set) var identity: ClientIdentity
  /// Who `identity` is about: the socket's other end, or whom a trusted proxy told of.
  private(set) var peer: Address
  private let neighbour: Address
  private var told: ProxyHeader.Client?
  /// The settings that `identity` follows.
  private var identified: ProxySettings
  let speaksProxyProtocol: Bool
  /// The listener's TLS; `nil` for plaintext.
  let tls: TLSServer?
  let admission: Admission
  private var hasEntered = false
  var isRefused = false
  /// Bytes of bodies that are held whole for the request in progress.
  private var charged = 0
  var state = ConnectionState()
  /// Received and not yet consumed; without a block while there is nothing.
  let input = Buffer()
  /// Whether `input` held a request that was intercepted, so that it is wiped.
  private var holdsSecrets = false
  /// Milliseconds after which an idle connection parks: longer than a busy client waits between two requests.
  private static let pauseLimit = 1_000
  /// A `ParkedConnection` has taken its place.
  private var isParked = false
  /// Pipelined requests that are answered in one go.
  private static let yieldAfter = 16
  let waiter: Waiter
  private var exchange: Exchange?
  /// Whether it serves one stream of an HTTP/2 connection instead of a connection of its own.
  private let isStream: Bool
  /// The stream that it serves, whose responses need not become HTTP/1.1 where they pass.
  private(set) var stream: HTTP2StreamLeg?
  /// Why the stream's request is refused before it is read.
  private var refusal: ProxyFailure?
  /// Whether what came so far may be the preface of HTTP/2.
  private var mayBeHTTP2: Bool

  init(_ socket: Socket, peer: Address, tls: TLSServer?, speaksProxyProtocol: Bool, _ worker: ProxyWorker) {
    self.socket = socket
    carrier = socket
    self.worker = worker
    self.peer = peer
    neighbour = peer
    self.speaksProxyProtocol = speaksProxyProtocol
    self.tls = tls
    identified = worker.settings
    identity = worker.identities.identity(
      of: peer, isTrusted: worker.settings.configuration.trusts(peer), isSecure: false, isTold: false)
    admission = Admission(worker.connections, total: worker.settings.configuration.limits.connections)
    waiter = Waiter(worker.poller)
    isStream = false
    refusal = nil
    // Over TLS it is agreed upon by ALPN.
    mayBeHTTP2 = tls == nil && worker.settings.configuration.http2 != nil
    worker.metrics.connectionOpened()
  }

  /// Goes on with a connection that was parked.
  init(_ parked: ParkedConnection) {
    socket = parked.socket
    carrier = parked.socket
    worker = parked.worker
    neighbour = parked.neighbour
    speaksProxyProtocol = false
    // Its handshake is done.
    tls = nil
    identified = parked.worker.settings
    let isTold = parked.told != nil && identified.configuration.trusts(parked.neighbour)
    told = isTold ? parked.told : nil
    peer = told?.address ?? neighbour
    identity = ServerConnection.identity(of: peer, told, parked.socket, parked.worker)
    admission = parked.admission
    hasEntered = true
    state = parked.state
    waiter = Waiter(parked.worker.poller)
    isStream = false
    mayBeHTTP2 = false
  }

  /// Serves streams of `connection`, one after the other: the same code, for one request each.
  init(streamsOf connection: ServerConnection) {
    socket = Socket(connection.poller)
    carrier = connection.socket
    worker = connection.worker
    identity = connection.identity.overHTTP2
    peer = connection.peer
    neighbour = connection.neighbour
    told = connection.told
    identified = connection.identified
    speaksProxyProtocol = false
    tls = nil
    admission = connection.admission
    hasEntered = true
    waiter = Waiter(worker.poller)
    isStream = true
    mayBeHTTP2 = false
  }

  /// Makes it ready for the next stream of `connection`: nothing of the last one is left.
  func begin(_ stream: HTTP2StreamLeg, of connection: ServerConnection, refusal: ProxyFailure?) {
    connection.followSettings()
    if identified !== connection.identified {
      identity = connection.identity.overHTTP2
      peer = connection.peer
      told = connection.told
      identified = connection.identified
    }
    state = ConnectionState()
    self.stream = stream
    self.refusal = refusal
  }

  /// Gives back what it still holds: no further stream comes.
  func endStreams() {
    exchange = nil
    waiter.retire()
  }

  /// Takes the client for whom a trusted proxy tells of.
  func believe(_ client: ProxyHeader.Client) {
    told = client
    peer = client.address
    identify()
  }

  private func followSettings() {
    if settings !== identified { identify() }
  }

  /// Follows the settings: whom they trust may have changed since the connection was accepted.
  func identify() {
    identified = settings
    if told != nil, !settings.configuration.trusts(neighbour) {
      told = nil
      peer = neighbour
    }
    identity = ServerConnection.identity(of: peer, told, carrier, worker)
    if isStream { identity = identity.overHTTP2 }
  }

  private static func identity(
    of peer: Address, _ told: ProxyHeader.Client?, _ carrier: Socket, _ worker: ProxyWorker
  ) -> ClientIdentity {
    let isSecure = carrier.layer != nil || told?.isSecure ?? false
    return worker.identities.identity(
      of: peer, isTrusted: worker.settings.configuration.trusts(peer), isSecure: isSecure, isTold: told != nil)
  }

  deinit {
    if isRefused { worker.endRefusal() }
    if !isStream, !isParked { worker.metrics.connectionClosed() }
  }

  var poller: Poller { worker.poller }
  var settings: ProxySettings { worker.settings }
  /// The field of a connection over TLS, which replaces the upstream's; empty for none.
  var strictTransport: [UInt8] { carrier.layer == nil ? [] : settings.strictTransportLine }

  func run() async {
    if let refusal { return await refuse(refusal) }
    if !hasEntered {
      hasEntered = true
      switch await enter() {
      case .admitted where socket.layer?.applicationProtocol == "h2": return handOver()
      case .admitted: break
      case .refused(let failure): return await refuse(failure)
      case .closed: return close()
      }
    }
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
        if isStream { return close() }
        // Answers that need no upstream never suspend: a client that pipelines must not hold the worker up.
        if !input.isEmpty, state.requests % ServerConnection.yieldAfter == 0 { await waiter.yield() }
      case .refused(let failure): return await refuse(failure)
      case .http2: return handOver()
      case .parked: return
      case .closed:
        close()
        return
      }
    }
  }

  /// The client speaks HTTP/2. This stays as what is known of the client, with what it has sent so far.
  private func handOver() {
    waiter.retire()
    worker.serveHTTP2(self)
  }

  /// Answers what cannot be read any further, and ends the connection.
  private func refuse(_ failure: ProxyFailure) async {
    note(failure, in: .head)
    state.receivedHead(hasBody: true, keepsAlive: false)
    await answer(worker.handler.failure(failure), to: .get, minorVersion: 1, began: 0, .refused)
    await finish()
  }

  /// Counts the limit that a failure comes from.
  func note(_ failure: ProxyFailure, in part: MessagePart) {
    if let limit = failure.limit(in: part) { worker.metrics.limited(limit) }
  }

  // MARK: Heads

  private enum HeadOutcome {
    case head(RequestHead)
    case http2
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
        if mayBeHTTP2, let isPreface = input.withSpan({ HTTP2Preface.matches($0) }) {
          if isPreface { return .http2 }
          mayBeHTTP2 = false
        }
        // The preface begins with a head of its own, which is not one of HTTP/1.1.
        switch mayBeHTTP2 ? .success(nil) : parse(&scanner) {
        case .success(let head?): return .head(head)
        case .success(nil): break
        case .failure(let error): return .refused(.request(error))
        }
        let limits = settings.configuration.limits.head
        if input.count >= min(Buffer.readSize, limits.bytes) {
          return .refused(.request(input.withSpan { RequestHeadParser.overlong($0, limits) }))
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
        case .ready where !input.hasBlock && !hasMemory:
          if case .refused(let failure) = refusal(.overloaded(.bufferMemory)) { return .refused(failure) }
          return .closed
        case .ready: break
        case .timedOut where state.requests > 0 && pause < settings.configuration.idleTimeout, .park:
          // Readable in the meantime: no further event would start a parked connection.
          if socket.satisfies(.readable) { break }
          if poller.isDraining { return .closed }
          park()
          return .parked
        case .timedOut:
          worker.metrics.limited(state.requests == 0 ? .headerTimeout : .idleTimeout)
          return .closed
        case .draining:
          // What had come by then is answered, though no event has told of it yet.
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

  /// A connection that pauses gives its task and buffers back, however few others are idle.
  private var pause: Int { min(ServerConnection.pauseLimit, settings.configuration.idleTimeout) }

  private func parse(_ scanner: inout HeadScanner) -> Result<RequestHead?, MessageError> {
    do throws(MessageError) {
      let head = try input.withSpan { (bytes: Span<UInt8>) throws(MessageError) -> RequestHead? in
        guard let length = try scanner.end(of: bytes, nextLineFeed: { input.nextLineFeed($0) }) else { return nil }
        return try RequestHeadParser.parse(
          bytes, length: length, limits: settings.configuration.limits.head, into: worker.requestFields)
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
    let settings = settings
    state.receivedHead(hasBody: head.body != .none, keepsAlive: head.keepsAlive)
    if worker.isWindingDown || poller.isDraining { state.refuseFurtherRequests() }
    if state.requests >= settings.configuration.limits.requestsPerConnection, head.keepsAlive {
      worker.metrics.limited(.requestsPerConnection)
      state.refuseFurtherRequests()
    }
    followSettings()
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
    defer {
      poller.buffers.release(charged)
      charged = 0
    }
    do throws(ProxyFailure) {
      request.body = try await readBody(head, limit: bodyLimit)
    } catch {
      note(error, in: .body)
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
        guard charge(piece.data.count) else { throw .overloaded(.bufferMemory) }
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

  /// Counts bytes that are held for the request in progress; false when memory does not allow them.
  func charge(_ count: Int) -> Bool {
    guard poller.buffers.hasRoom(for: count) else { return false }
    poller.buffers.charge(count)
    charged += count
    return true
  }

  // MARK: Answers

  /// Sends a response that the gateway holds whole.
  func answer(
    _ given: Response, to method: Method, minorVersion: Int, began: UInt64, _ handling: RequestHandling
  ) async {
    let (response, fields) = encoded(given)
    let buffer = poller.buffers.take()
    if poller.isDraining || worker.isWindingDown { state.refuseFurtherRequests() }
    buffer.append("HTTP/1.1 \(response.status) \(ReasonPhrase.of(response.status))\r\n")
    buffer.append(worker.dateLine)
    buffer.append(fields)
    ResponseRewriter.appendEnd(
      .length(response.body.count), status: response.status, keepsAlive: state.announcesKeepAlive,
      minorVersion: minorVersion, to: buffer)
    if !state.announcesKeepAlive { state.refuseFurtherRequests() }
    state.startedResponse()
    let body = method == .head || response.status == 204 || response.status == 304 ? [] : response.body
    let deadline = answerDeadline(body.count)
    var position = 0
    var isCut = false
    while true {
      let count = min(buffer.room, body.count - position)
      if count > 0 {
        buffer.append(body, in: position..<position + count)
        position += count
      }
      if buffer.isEmpty { break }
      guard await flush(buffer, until: deadline) else {
        isCut = true
        break
      }
    }
    poller.buffers.wipeAndGiveBack(buffer)
    if isCut { state.cutResponse() } else { state.finishedResponse() }
    let ended = began == 0 ? 0 : Clock.monotonicNanoseconds() - began
    worker.metrics.requestFinished(handling, status: response.status, nanoseconds: ended)
  }

  /// The response and its fields; a failure in its place if it cannot be written as it is meant.
  private func encoded(_ response: Response) -> (Response, [UInt8]) {
    let room = Buffer.capacity - ResponseEncoder.reserve
    if let fields = ResponseEncoder.fields(response.headers, strictTransport: strictTransport), fields.count <= room {
      return (response, fields)
    }
    let failure = worker.handler.failure(.upstream(.malformed))
    if let fields = ResponseEncoder.fields(failure.headers, strictTransport: strictTransport), fields.count <= room {
      return (failure, fields)
    }
    return (Response(status: 502), [])
  }

  /// Until when a client has taken an answer of so many bytes, if it keeps up.
  private func answerDeadline(_ count: Int) -> Deadline {
    let rate = settings.configuration.limits.minimumRate
    return poller.deadline(after: settings.configuration.bodyTimeout + (rate > 0 ? count * 1_000 / rate : 0))
  }

  /// Sends all of the buffer; false when the client is gone or does not read.
  private func flush(_ buffer: Buffer, until deadline: Deadline) async -> Bool {
    while !buffer.isEmpty {
      switch socket.send(buffer) {
      case .moved: continue
      case .wouldBlock:
        let progress = poller.deadline(after: settings.configuration.bodyTimeout)
        switch await waiter.wait(socket, .writable, until: min(deadline, progress)) {
        case .ready: continue
        case .timedOut:
          worker.metrics.limited(.bodyTimeout)
          return false
        case .draining, .park: return false
        }
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
    if let exchange { return exchange }
    let made = Exchange(self)
    exchange = made
    return made
  }

  private func releaseAll() {
    exchange?.release()
    input.clear()
    releaseInput()
    if isStream {
      stream = nil
      // The rest is used again for the next stream.
      if isRefused { worker.endRefusal() }
      isRefused = false
    } else {
      exchange = nil
      waiter.retire()
    }
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
    isParked = true
    // The socket holds it.
    _ = ParkedConnection(socket, worker, neighbour: neighbour, told: told, admission, state)
  }
}
