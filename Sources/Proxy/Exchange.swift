import HTTP
import HTTP1
import Reactor
import Telemetry

/// One request forwarded and its response brought back, both streamed with bounded memory.
///
/// Theory of operation. Two pumps, up and down, move what they can without blocking. When neither can, one wait covers
/// both sockets, with an interest that says exactly what would help: so an answer that comes before the request has
/// ended stops the upload, and a client that goes away cancels the request. Until the first byte of a response has been
/// received, a request without a body can be sent again on another connection, so its head stays in the receive buffer.
final class Exchange {
  private enum Failure: Error {
    case client
    case clientTimeout
    /// The client takes or gives too little for the time that it takes.
    case tooSlow
    /// The request as a whole takes too long.
    case tooLong
    case request(MessageError)
    case upstream(UpstreamFailure)
    /// The reused connection was closed before it answered anything.
    case stale
    case forbidden
  }

  private let server: ServerConnection
  private let worker: ProxyWorker
  private let poller: Poller
  private var upload = BodyPump(.none, as: .plain)
  private var uploadEnded = false
  private var download: BodyPump?
  /// Kept from one exchange to the next, so that a busy connection does not take and give back for each.
  private let toUpstream: Buffer
  private let toClient: Buffer
  private var keepsHead = false
  private var carriesCookie = false
  private var status = 0
  private var upstreamKeepsAlive = false
  private var isTunnel = false
  private var began: UInt64 = 0
  private var responseDeadline: Deadline?
  /// Bytes moved since the last yield.
  private var moved = 0
  private var pace = Pace()
  /// Bytes of the body from the client, and bytes to the client.
  private var uploaded = 0
  private var downloaded = 0
  private var requestDeadline = Deadline.never
  private var stall = Stall()
  private var uploadStopped = false
  private var reader = ResponseHeadReader()

  private static let yieldAfter = 64 * 1024

  init(_ server: ServerConnection) {
    self.server = server
    worker = server.worker
    poller = server.poller
    toUpstream = Buffer()
    toClient = Buffer()
  }

  /// Gives the buffers' blocks back: the connection parks or ends, or the stream does. The next exchange takes them again.
  func release() {
    poller.buffers.giveBack(toUpstream)
    poller.buffers.giveBack(toClient)
  }

  /// Makes it ready for the next exchange of its connection: one serves them all, so that none costs an allocation.
  private func reset(_ began: UInt64) {
    poller.buffers.fill(toUpstream)
    poller.buffers.fill(toClient)
    self.began = began
    upload = BodyPump(.none, as: .plain)
    uploadEnded = false
    uploadStopped = false
    download = nil
    keepsHead = false
    carriesCookie = false
    status = 0
    upstreamKeepsAlive = false
    isTunnel = false
    responseDeadline = nil
    moved = 0
    pace = Pace()
    stall = Stall()
    uploaded = 0
    downloaded = 0
    requestDeadline = poller.deadline(after: worker.settings.configuration.limits.requestTimeout)
  }

  // MARK: Entry points

  /// Forwards the request whose head stands at the front of the connection's input.
  func forward(_ head: RequestHead, began: UInt64) async {
    reset(began)
    rewrite(head)
    keepsHead = head.body == .none
    if !keepsHead { server.input.consume(head.length) }
    upload = BodyPump(head.body, as: head.body == .chunked ? .chunked : .plain)
    var mayReuse = true
    while true {
      do throws(Failure) {
        if let upstream = idleConnection(head, mayReuse) {
          try await transfer(upstream, head)
        } else {
          try await transfer(connect(head, mayReuse), head)
        }
        break
      } catch {
        if case .stale = error {
          mayReuse = false
          toUpstream.clear()
          // The first attempt may have sent everything, or given up on sending.
          uploadEnded = false
          uploadStopped = false
          responseDeadline = nil
          reparse(head)
          rewrite(head)
          continue
        }
        await fail(error, head)
        break
      }
    }
    clear()
  }

  /// Streams the body of an answer that a handler has seen, behind the handler's head.
  func relay(_ answer: UpstreamResponse, _ response: Response, to head: RequestHead, began: UInt64) async {
    reset(began)
    uploadEnded = true
    let upstream = answer.take()
    do throws(Failure) {
      try begin(response, answer.parsed, head, of: upstream)
      try await transfer(upstream, head)
    } catch {
      await fail(error, head)
    }
    clear()
  }

  private func idleConnection(_ head: RequestHead, _ mayReuse: Bool) -> UpstreamConnection? {
    mayReuse ? worker.pool.takeIdle(isIdempotent: isRepeatable(head), isReserved: false) : nil
  }

  private func isRepeatable(_ head: RequestHead) -> Bool { head.method.isIdempotent && head.body == .none }

  private func connect(_ head: RequestHead, _ mayReuse: Bool) async throws(Failure) -> UpstreamConnection {
    do throws(UpstreamFailure) {
      return try await worker.pool.take(mayReuse: mayReuse, isIdempotent: isRepeatable(head), for: server)
    } catch {
      if case .clientGone = error { throw .client }
      throw .upstream(error)
    }
  }

  /// Writes the head for the upstream. `requestFields` is that of this request: nothing was awaited since it was parsed.
  private func rewrite(_ head: RequestHead) {
    server.input.withSpan { bytes in
      carriesCookie = RequestRewriter.write(
        head, bytes, worker.requestFields, server.identity, worker.settings, to: toUpstream)
      if RequestRewriter.allowedUpgrade(head, bytes, worker.settings) != nil { isTunnel = true }
    }
  }

  /// Fills `requestFields` anew: other connections have used it meanwhile.
  private func reparse(_ head: RequestHead) {
    server.input.withSpan { bytes in
      _ = try? RequestHeadParser.parse(bytes, length: head.length, into: worker.requestFields)
    }
  }

  // MARK: Transfer

  private func transfer(_ upstream: UpstreamConnection, _ head: RequestHead) async throws(Failure) {
    do throws(Failure) {
      reader = ResponseHeadReader()
      if head.expectsContinue, !uploadEnded, server.input.isEmpty { sendContinue() }
      while true {
        if server.socket.readiness.contains(.broken) { throw .client }
        if !uploadEnded { try stepUpload(upstream) }
        if try stepDownload(upstream, head) { break }
        if startsTunnel { continue }
        if moved >= Exchange.yieldAfter {
          moved = 0
          await server.waiter.giveWay()
          continue
        }
        server.socket.push()
        let interest = interest()
        let wake = await server.waiter.wait(
          server.socket, interest.ofClient, upstream.socket, interest.ofUpstream, until: interest.end)
        if interest.isPaced || wake == .timedOut { try judge(wake, interest) }
      }
    } catch {
      let isStale = upstream.isReused && keepsHead && upstream.input.isEmpty
      worker.pool.retire(upstream)
      if case .upstream(.reset) = error, isStale, head.method.isIdempotent { throw .stale }
      throw error
    }
    server.socket.push()
    server.state.finishedResponse()
    worker.metrics.requestFinished(
      .passed, status: status, nanoseconds: Clock.monotonicNanoseconds() - began)
    if upstreamKeepsAlive, uploadEnded { worker.pool.giveBack(upstream) } else { worker.pool.retire(upstream) }
  }

  /// Whether a tunnel has begun with bytes that the client sent behind its request: no event will tell of them.
  private var startsTunnel: Bool {
    isTunnel && !uploadEnded && download != nil && upload.direct == 0 && toUpstream.isEmpty
      && !server.input.isEmpty
  }

  /// What one wait is for: everything that would help.
  private struct Interest {
    // A client that goes away ends the exchange at any time. A broken upstream is of interest only once more is to be read.
    var ofClient: Readiness = .broken
    var ofUpstream: Readiness = []
    /// When the lack of any progress is a failure.
    let deadline: Deadline
    /// When the wait ends at the latest.
    var end: Deadline
    /// Whether nothing but the client is waited for, since when.
    var isPaced = false
    let began: UInt64
  }

  private func interest() -> Interest {
    let blockedUp = !toUpstream.isEmpty || upload.direct > 0
    let blockedDown = !toClient.isEmpty || (download?.direct ?? 0) > 0
    let timeout = worker.settings.configuration.bodyTimeout
    // What a switched protocol does in its time is its own affair.
    if isTunnel { stall.end() } else { stall.note(isBlocked: blockedDown, now: poller.now, taken: taken) }
    var deadline = uploadEnded && download == nil ? answerDeadline() : poller.deadline(after: timeout)
    if stall.isRunning { deadline = blockedDown ? stall.deadline(timeout) : min(deadline, stall.deadline(timeout)) }
    var interest = Interest(deadline: deadline, end: deadline, began: poller.now)
    if !uploadEnded {
      if blockedUp { interest.ofUpstream.insert(.writable) } else { interest.ofClient.insert(.readable) }
    }
    if blockedDown { interest.ofClient.insert(.writable) } else { interest.ofUpstream.insert(.readable) }
    guard !isTunnel else { return interest }
    interest.end = min(deadline, requestDeadline, stall.nextLook(timeout, now: poller.now))
    guard blockedDown || !uploadEnded && !blockedUp && download == nil else { return interest }
    let limits = worker.settings.configuration.limits
    interest.isPaced = limits.minimumRate > 0
    if interest.isPaced { interest.end = min(interest.end, poller.deadline(after: pace.left(limits))) }
    return interest
  }

  /// Whether a wait has shown that the exchange must end.
  private func judge(_ wake: Wake, _ interest: Interest) throws(Failure) {
    let limits = worker.settings.configuration.limits
    if interest.isPaced, !pace.keeps(limits, waited: poller.now - interest.began, moved: movedByClient) {
      throw .tooSlow
    }
    guard wake == .timedOut else { return }
    let now = Deadline(milliseconds: poller.now)
    if !isTunnel, requestDeadline <= now { throw .tooLong }
    let timeout = worker.settings.configuration.bodyTimeout
    if stall.deadline(timeout) <= now {
      if stall.isOver(timeout, now: poller.now, taken: taken) { throw .clientTimeout }
      return
    }
    if interest.deadline <= now { throw timeoutFailure() }
  }

  /// Bytes that the client has given and taken. What the kernel holds for it, it has not taken.
  private func movedByClient() -> Int {
    uploaded + downloaded - (downloaded > 0 ? server.socket.unacknowledged : 0)
  }

  /// Bytes that the client has given and taken. What is left of the answer before counts as well: below zero then, and
  /// rising.
  private func taken() -> Int { uploaded + downloaded - server.socket.unacknowledged }

  private func answerDeadline() -> Deadline {
    if let responseDeadline { return responseDeadline }
    let deadline = poller.deadline(after: worker.settings.configuration.responseTimeout)
    responseDeadline = deadline
    return deadline
  }

  private func timeoutFailure() -> Failure {
    let waitsForClient = !uploadEnded && toUpstream.isEmpty && upload.direct == 0
    return waitsForClient && download == nil ? .clientTimeout : .upstream(.responseTimeout)
  }

  private func sendContinue() {
    let buffer = poller.buffers.take()
    buffer.append("HTTP/1.1 100 Continue\r\n\r\n")
    _ = server.socket.send(buffer)
    poller.buffers.giveBack(buffer)
  }

  // MARK: Up

  /// Moves what can be moved towards the upstream.
  private func stepUpload(_ upstream: UpstreamConnection) throws(Failure) {
    while true {
      if !server.input.isEmpty, !keepsHead, upload.direct == 0, !upload.isDecoded {
        do throws(MessageError) {
          try upload.advance(from: server.input, to: toUpstream)
        } catch {
          throw .request(error)
        }
      }
      if upload.isDecoded { server.state.receivedBody() }
      if !toUpstream.isEmpty || upload.direct > 0 {
        guard try send(to: upstream) else { return }
        continue
      }
      if upload.isEncoded {
        uploadEnded = true
        return
      }
      guard server.socket.satisfies(.readable) else { return }
      switch server.receive() {
      case .moved(let count):
        moved += count
        uploaded += count
        if moved >= Exchange.yieldAfter { return }
      case .wouldBlock: return
      case .ended where isTunnel:
        // Only this direction ends: what the upstream still has to say is waited for.
        upstream.socket.shutdownWrite()
        stopUpload()
        return
      case .ended, .failed: throw .client
      }
    }
  }

  /// Sends once; false when the upstream takes no more for now.
  private func send(to upstream: UpstreamConnection) throws(Failure) -> Bool {
    let direct = upload.direct
    let before = toUpstream.count
    let result: Transfer
    if direct > 0 {
      result =
        toUpstream.isEmpty
        ? upstream.socket.send(server.input, upTo: direct)
        : upstream.socket.send(toUpstream, then: server.input, upTo: direct)
    } else {
      result = upstream.socket.send(toUpstream)
    }
    switch result {
    case .moved(let count):
      if direct > 0 { upload.sentDirect(max(0, count - before)) }
      return true
    case .wouldBlock: return false
    case .ended, .failed:
      // It may have answered before it closed: stop the upload and see.
      stopUpload()
      upstreamKeepsAlive = false
      return false
    }
  }

  /// The rest of the request is of no use any more.
  private func stopUpload() {
    uploadEnded = true
    uploadStopped = true
    dropUnsentBody()
    toUpstream.clear()
  }

  /// Takes what is left of the body out of the receive buffer: its end was counted as received when it was seen there, and
  /// the next head is read from the buffer's front.
  private func dropUnsentBody() {
    guard upload.direct > 0 else { return }
    server.input.consume(upload.direct)
    upload.sentDirect(upload.direct)
  }

  // MARK: Down

  /// Moves what can be moved towards the client; true when the response is complete.
  private func stepDownload(_ upstream: UpstreamConnection, _ head: RequestHead) throws(Failure) -> Bool {
    while true {
      if download == nil { try readResponseHead(upstream, head) }
      if !upstream.input.isEmpty, download?.direct == 0 {
        do throws(MessageError) {
          try download?.advance(from: upstream.input, to: toClient)
        } catch {
          throw .upstream(.malformed)
        }
      }
      if !toClient.isEmpty || (download?.direct ?? 0) > 0 {
        guard try sendToClient(upstream) else { return false }
        continue
      }
      if download?.isEncoded ?? false { return true }
      guard upstream.socket.satisfies(.readable) else { return false }
      if moved >= Exchange.yieldAfter { return false }
      try receive(upstream)
    }
  }

  private func receive(_ upstream: UpstreamConnection) throws(Failure) {
    switch download == nil ? upstream.receive() : upstream.receiveBody() {
    case .moved(let count): moved += count
    case .wouldBlock: return
    case .ended:
      guard download?.close(toClient) ?? false else { throw .upstream(.reset) }
    case .failed: throw .upstream(.reset)
    }
  }

  private func sendToClient(_ upstream: UpstreamConnection) throws(Failure) -> Bool {
    let direct = download?.direct ?? 0
    let before = toClient.count
    // What the kernel holds back is pushed before the next wait.
    let more = upstream.socket.readiness.contains(.readable) && download?.isDecoded == false
    let result: Transfer
    if direct > 0 {
      result =
        toClient.isEmpty
        ? server.socket.send(upstream.input, upTo: direct, more: more)
        : server.socket.send(toClient, then: upstream.input, upTo: direct, more: more)
    } else {
      result = server.socket.send(toClient, upTo: toClient.count, more: more)
    }
    switch result {
    case .moved(let count):
      downloaded += count
      if direct > 0 { download?.sentDirect(max(0, count - before)) }
      return true
    case .wouldBlock: return false
    case .ended, .failed: throw .client
    }
  }

  /// Parses the head when it is whole, and begins the response.
  private func readResponseHead(_ upstream: UpstreamConnection, _ head: RequestHead) throws(Failure) {
    let parsed: ResponseHead?
    do throws(UpstreamFailure) {
      parsed = try reader.parse(
        upstream.input, to: head.method, acceptsSwitch: isTunnel, into: worker.responseFields)
    } catch {
      throw .upstream(error)
    }
    guard let parsed else { return }
    worker.metrics.upstreamAnswered(nanoseconds: Clock.monotonicNanoseconds() - began)
    let input = upstream.input
    if !uploadEnded { stopUpload() }
    if parsed.status == 101 {
      beginTunnel(parsed, input, head)
      return
    }
    isTunnel = false
    if carriesCookie {
      var edited = worker.values(of: parsed, input)
      for name in ["Location", "Refresh", "Content-Location"] {
        guard let location = edited.headers[name] else { continue }
        guard edited.headers.all(name).count == 1 else { throw .upstream(.malformed) }
        if let replacement = try judge(location) { edited.headers.set(name, replacement) }
      }
      worker.handler.editPassing(&edited)
      input.consume(parsed.length)
      try begin(edited, parsed, head)
    } else {
      try beginPassing(parsed, input, head)
    }
  }

  /// The fast path: the head is rewritten from bytes to bytes.
  private func beginPassing(_ parsed: ResponseHead, _ input: Buffer, _ head: RequestHead) throws(Failure) {
    let fields = worker.responseFields
    let replacements =
      fields.hasLocation
      ? try judgeFields(input, fields) : ResponseRewriter.Replacements()
    let added = replacements.count + ResponseRewriter.growth(of: fields, worker.settings)
    guard parsed.length + added + 256 <= Buffer.capacity else { throw .upstream(.malformed) }
    open(parsed, head)
    let framing = ResponseRewriter.Framing(
      parsed.body, announcedLength: parsed.announcedLength, minorVersion: head.minorVersion)
    let keepsAlive = keepAlive(framing)
    let (settings, field, minorVersion) = (worker.settings, framing.field, head.minorVersion)
    let date = fields.has(.date) ? [] : worker.dateLine
    let strictTransport = server.strictTransport
    func write(to sink: some ResponseHeadSink) {
      input.withSpan { bytes in
        ResponseRewriter.write(
          parsed, bytes, fields, field, keepsAlive: keepsAlive, minorVersion: minorVersion, replacements,
          date: date, strictTransport: strictTransport, settings, to: sink)
      }
    }
    if let stream = server.stream {
      guard let count = stream.respond(framing.body, { write(to: $0) }) else { throw .client }
      downloaded += count
    } else {
      write(to: toClient)
    }
    input.consume(parsed.length)
    download = framing.pump
  }

  /// What becomes of the locations of a response that passes.
  private func judgeFields(
    _ input: Buffer, _ fields: HeadIndex
  ) throws(Failure) -> ResponseRewriter.Replacements {
    var replacements = ResponseRewriter.Replacements()
    for field in fields.fields where field.known.isLocation {
      // Of two, each reader may follow another one.
      guard fields.only(field.known) != nil else { throw .upstream(.malformed) }
      let text = input.withSpan { RequestReader.text($0, field.value) }
      replacements.set(field.known, try judge(text))
    }
    return replacements
  }

  /// Begins the response to an intercepted request; an upstream whose answer cannot be relayed is let go.
  private func begin(
    _ response: Response, _ parsed: ResponseHead, _ head: RequestHead, of upstream: UpstreamConnection
  ) throws(Failure) {
    do throws(Failure) {
      try begin(response, parsed, head)
    } catch {
      worker.pool.retire(upstream)
      throw error
    }
  }

  /// Begins a response whose head is held as values.
  private func begin(_ response: Response, _ parsed: ResponseHead, _ head: RequestHead) throws(Failure) {
    guard let fields = ResponseEncoder.fields(response.headers, strictTransport: server.strictTransport),
      fields.count + ResponseEncoder.reserve <= Buffer.capacity
    else { throw .upstream(.malformed) }
    open(parsed, head)
    let framing = ResponseRewriter.Framing(
      parsed.body, announcedLength: parsed.announcedLength, minorVersion: head.minorVersion)
    status = response.status
    toClient.append("HTTP/1.1 \(response.status) \(ReasonPhrase.of(response.status))\r\n")
    toClient.append(fields)
    if !response.headers.contains("Date") { toClient.append(worker.dateLine) }
    ResponseRewriter.appendEnd(
      framing.field, status: response.status, keepsAlive: keepAlive(framing), minorVersion: head.minorVersion,
      to: toClient)
    download = framing.pump
    if head.method == .head || response.status == 204 || response.status == 304, parsed.body != .none {
      // The answer to another kind of request than the client's: its body must not follow.
      download = BodyPump(.none, as: .plain)
      upstreamKeepsAlive = false
    }
  }

  private func open(_ parsed: ResponseHead, _ head: RequestHead) {
    status = parsed.status
    upstreamKeepsAlive = parsed.keepsAlive && !uploadStopped
    if keepsHead {
      server.input.consume(head.length)
      keepsHead = false
    }
  }

  private func keepAlive(_ framing: ResponseRewriter.Framing) -> Bool {
    if framing.needsClose || poller.isDraining || worker.isWindingDown { server.state.refuseFurtherRequests() }
    let keepsAlive = server.state.announcesKeepAlive
    if !keepsAlive { server.state.refuseFurtherRequests() }
    server.state.startedResponse()
    return keepsAlive
  }

  /// What becomes of a location; throws when it must not reach the browser.
  private func judge(_ location: String) throws(Failure) -> String? {
    switch LocationJudge.judge(location, worker.handler, worker.settings.configuration) {
    case .refuse: throw .forbidden
    case .replace(let replacement): return replacement
    case .keep: return nil
    }
  }

  // MARK: Tunnel

  /// The protocol was switched: from here on bytes move both ways until one side closes.
  private func beginTunnel(_ parsed: ResponseHead, _ input: Buffer, _ head: RequestHead) {
    status = 101
    // What the client sent behind the head is already of the new protocol.
    if keepsHead { server.input.consume(head.length) }
    keepsHead = false
    toClient.append("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\n")
    input.withSpan { bytes in
      for field in worker.responseFields.fields where !field.isNominated {
        switch field.known {
        case .connection, .keepAlive, .proxyConnection, .contentLength, .transferEncoding, .te, .trailer: continue
        case .setCookie where CookieFilter.sets(worker.settings.configuration.privateCookie, bytes, field.value):
          continue
        default: RequestRewriter.append(field, bytes, to: toClient)
        }
      }
    }
    toClient.append("\r\n")
    input.consume(parsed.length)
    server.state.refuseFurtherRequests()
    server.state.startedResponse()
    download = BodyPump(.untilClose, as: .plain)
    upload = BodyPump(.untilClose, as: .plain)
    uploadEnded = false
  }

  // MARK: The end

  private func fail(_ failure: Failure, _ head: RequestHead) async {
    clear()
    dropUnsentBody()
    if case .upstream(let error) = failure { worker.metrics.upstreamFailed(error) }
    if let limit = limit(of: failure) { worker.metrics.limited(limit) }
    if server.state.hasStartedResponse {
      server.state.cutResponse()
      worker.metrics.requestFinished(
        .passed, status: status, nanoseconds: Clock.monotonicNanoseconds() - began)
      return
    }
    if keepsHead {
      server.input.consume(head.length)
      keepsHead = false
    }
    let answer: ProxyFailure
    switch failure {
    case .client: return
    case .clientTimeout, .tooSlow: answer = .timeout
    case .tooLong: answer = uploadEnded ? .upstream(.responseTimeout) : .timeout
    case .request(let error): answer = .request(error)
    case .upstream(let error): answer = .upstream(error)
    case .stale: answer = .upstream(.reset)
    case .forbidden: answer = .forbiddenResponse
    }
    await server.answer(
      worker.handler.failure(answer), to: head.method, minorVersion: head.minorVersion, began: began, .refused)
  }

  private func limit(of failure: Failure) -> LimitKind? {
    switch failure {
    case .clientTimeout: .bodyTimeout
    case .tooSlow: .minimumRate
    case .tooLong: .requestTimeout
    case .upstream(let error): ProxyFailure.upstream(error).limit(in: .body)
    case .client, .request, .stale, .forbidden: nil
    }
  }

  private func clear() {
    toUpstream.clear()
    toClient.clear()
  }
}
