internal import ByteText
import HTTP
import HTTP1
import Reactor
import Telemetry
import Time

/// Requests whose body the handler gets: the whole body of an intercepted request, or the beginning of a form that may
/// be forwarded.
extension ServerConnection {
  // MARK: Interception

  func intercept(_ head: RequestHead, bodyLimit: Int, routeTag: UInt8, began: MonotonicInstant) async {
    holdsSecrets = true
    // A reload while the body is read replaces `worker.handler`, but the tag has a meaning only for the handler that
    // chose it.
    let handler = worker.handler
    var request = input.withSpan { bytes in
      reportDroppedFields(bytes)
      return RequestReader.read(head, bytes, requestFields, identity, settings, number: requestNumber)
    }
    input.consume(head.length)
    interceptedRequest = request
    defer {
      interceptedRequest = nil
      releaseCharge()
    }
    do throws(UnreadBody) {
      request.body = try await readBody(head, limit: bodyLimit, of: request.peer)
      try chargeReadings(of: head, request.body)
    } catch {
      guard case .bodyTooLarge(let limit) = error.failure,
        let response = handler.responseToLongBody(limit: limit, routeTag: routeTag, request: reference)
      else { return await refuse(request, error, to: head, began: began) }
      if let limit = error.limit { worker.metrics.recordLimit(limit) }
      report(error.failure.reason(error.limit), status: response.status, FailedRequest(request))
      return await answer(response, to: head.method, minorVersion: head.minorVersion, began: began, .refused)
    }
    await yieldInLongTurn()
    let upstream = Upstream(self)
    switch await handler.respond(to: request, routeTag: routeTag, upstream: upstream) {
    case .response(let response):
      await answer(response, to: head.method, minorVersion: head.minorVersion, began: began, .handlerResponse)
    case .refusal(let response):
      await answer(response, to: head.method, minorVersion: head.minorVersion, began: began, .refused)
    case .overLimit(let limit): await refuse(request, UnreadBody(.overloaded(limit)), to: head, began: began)
    case .relay(let upstreamResponse, let response):
      guard upstreamResponse.mayRelayAtPaceOfClient else {
        return await relayCollected(upstreamResponse, response, to: request, head, began: began)
      }
      await currentExchange().relay(upstreamResponse, response, to: head, began: began)
    }
  }

  /// Relays a response whose upstream connection the client may not hold: the connection is free for others before the
  /// client gets the response.
  private func relayCollected(
    _ upstreamResponse: UpstreamResponse, _ response: Response, to request: Request, _ head: RequestHead,
    began: MonotonicInstant
  ) async {
    var response = response
    do throws(ProxyFailure) {
      response.body = try await upstreamResponse.collectForRelay()
    } catch {
      return await refuse(request, UnreadBody(error), to: head, began: began)
    }
    await answer(response, to: head.method, minorVersion: head.minorVersion, began: began, .passed)
  }

  /// The bytes that are charged for each byte of the head and of the body, for what the handler reads from them: fields as
  /// text, parameters, the request that it sends upstream, and pages that repeat values. `make complexity` counts at most
  /// 14 times the length of a head and 5 times that of a body.
  private static let (headFactor, bodyFactor) = (16, 6)

  /// Charges what the handler may hold for its readings of a request, until `releaseCharge`.
  private func chargeReadings(of head: RequestHead, _ body: [UInt8]) throws(UnreadBody) {
    let count = head.length * ServerConnection.headFactor + body.count * ServerConnection.bodyFactor
    guard charge(count) else { throw UnreadBody(.overloaded(.bufferMemory)) }
  }

  /// Answers an intercepted request whose body was not read, or is not to be parsed.
  private func refuse(
    _ request: Request, _ error: UnreadBody, to head: RequestHead, began: MonotonicInstant
  ) async {
    if let limit = error.limit { worker.metrics.recordLimit(limit) }
    await answer(
      failure(error.failure, as: ErrorForm(request.headers), limit: error.limit, FailedRequest(request)),
      to: head.method, minorVersion: head.minorVersion, began: began, .refused)
  }

  /// Reports each field that is not forwarded, if the handler observes them.
  ///
  /// - Parameter bytes: The head whose fields are in `requestFields`.
  func reportDroppedFields(_ bytes: Span<UInt8>) {
    guard worker.handler.observesDroppedFields else { return }
    let client = identity.facts(bytes, requestFields, requestNumber: requestNumber)
    for index in requestFields.indices where !requestFields[index].isNamedByConnection {
      let name = settings.identityFields.droppedFieldName(
        for: requestFields[index], of: requestFields, bytes, isTrusted: identity.isTrusted)
      if let name { worker.handler.dropped(field: name, client: client) }
    }
  }

  /// Reports a passing request with a cookie that some server reads like a parameter.
  ///
  /// - Parameter bytes: The head whose fields are in `requestFields`.
  func reportCookie(ofParameter name: String, _ bytes: Span<UInt8>) {
    let client = identity.facts(bytes, requestFields, requestNumber: requestNumber)
    worker.handler.found(parameterInCookie: name, client: client)
  }

  /// The time that the chunks of a body have taken to decode: a sender of small chunks can make it a hundred times as long as
  /// that of the copy of a body with a length, which is not measured.
  private struct DecodingTime {
    private let isMeasured: Bool
    private var taken: Nanoseconds = 0

    init(of body: BodyFraming) {
      isMeasured = body == .chunked
    }

    /// The time for ``add(since:)``.
    var now: MonotonicInstant { isMeasured ? SystemClock.monotonicInstant() : 0 }

    mutating func add(since began: MonotonicInstant) {
      if isMeasured { taken += SystemClock.monotonicInstant() - began }
    }

    func charge(to peer: Peer, _ handler: some RequestHandler) {
      if isMeasured { handler.chargeDecoding(taken, to: peer) }
    }
  }

  /// Reads and decodes the whole body.
  private func readBody(_ head: RequestHead, limit: Int, of peer: Peer) async throws(UnreadBody) -> [UInt8] {
    if case .length(let count) = head.body, count > limit { throw UnreadBody(.bodyTooLarge(limit: limit)) }
    var body = CollectedBody(head.body)
    if head.expectsContinue, input.isEmpty { sendContinue() }
    var reading = BodyReading(until: poller.deadline(after: settings.configuration.bodyTimeout))
    var decoding = DecodingTime(of: head.body)
    defer { decoding.charge(to: peer, worker.handler) }
    while !body.isFinished {
      if !input.isEmpty {
        let before = body.data.count
        do throws(MessageError) {
          let began = decoding.now
          defer { decoding.add(since: began) }
          let consumed = try input.withSpan { (bytes: Span<UInt8>) throws(MessageError) in try body.decode(bytes) }
          input.consume(consumed)
        } catch {
          throw UnreadBody(.request(error))
        }
        guard body.data.count <= limit else { throw UnreadBody(.bodyTooLarge(limit: limit)) }
        guard charge(body.data.count - before) else { throw UnreadBody(.overloaded(.bufferMemory)) }
        continue
      }
      try await receiveBody(&reading)
    }
    state.receivedBody()
    return body.data
  }

  /// The reason why a body, of the request or of the response, was not read, and the limit to count in the metrics, if one was exceeded.
  private struct UnreadBody: Error {
    let failure: ProxyFailure
    let limit: LimitKind?

    init(_ failure: ProxyFailure) {
      self.failure = failure
      limit = failure.limit(at: .afterHead)
    }

    /// The client was too slow.
    init(slowerThan limit: LimitKind) {
      failure = .timeout
      self.limit = limit
    }
  }

  /// The reading of a body before the request continues. The body must be complete at a deadline, and arrive at the
  /// minimum rate.
  private struct BodyReading {
    let deadline: Deadline
    var meter = ProgressMeter()
    /// The number of bytes received since the reading began.
    var received = 0

    init(until deadline: Deadline) {
      self.deadline = deadline
    }
  }

  /// Waits until more of the body arrives, and receives it.
  private func receiveBody(_ reading: inout BodyReading) async throws(UnreadBody) {
    let limits = settings.exchangeTimeouts.progress
    let received = reading.received
    reading.meter.update(isAwaited: true, now: poller.now, count: { received })
    let check = reading.meter.beginWait(limits, isAwaited: true, now: poller.now)
    let wake: Wake
    if socket.satisfies(.readable) {
      // A client that sends fast would otherwise keep the worker until its body is complete.
      await yieldInLongTurn()
      wake = .ready
    } else {
      // The buffers of the last request of the connection.
      exchange?.release()
      guard let wait = beginBodyWait() else { throw UnreadBody(.overloaded(.requestsPerAddress)) }
      wake = await waiter.wait(socket, .readable, until: min(reading.deadline, check))
      guard endBodyWait(wait) else { throw UnreadBody(.overloaded(.bufferMemory)) }
    }
    if reading.meter.isTooSlow(limits, now: poller.now, count: { received }, unit: { 0 }) {
      throw UnreadBody(slowerThan: .minimumRate)
    }
    if wake == .timedOut {
      if reading.deadline.hasPassed(at: poller.now) { throw UnreadBody(slowerThan: .bodyTimeout) }
      return
    }
    switch receive() {
    case .moved(let count): reading.received += count
    case .wouldBlock: break
    case .ended, .failed: throw UnreadBody(.request(MessageError(status: 400, "a body that ended early")))
    }
  }

  /// Counts bytes that are held for the request in progress. Returns false, without counting them, if there is no
  /// memory for them.
  func charge(_ count: Int) -> Bool {
    guard buffers.hasRoom(for: count) else { return false }
    buffers.charge(count)
    charged += count
    return true
  }

  /// Stops counting the bytes that `charge` has counted, because the request has ended.
  func releaseCharge() {
    buffers.release(charged)
    charged = 0
  }

  // MARK: Inspection

  /// A body that is decoded while its bytes stay in the receive buffer, after the head.
  private struct InspectedBody {
    var decoder: BodyDecoder
    /// The offset of the next byte to decode in the buffer.
    var position: Int
    /// True if `data` has the decoded bytes. A body with a length is read in the buffer.
    let isChunked: Bool
    var data: [UInt8] = []
    /// True if the framing is malformed. Forwarding the body fails with the same error.
    var isBroken = false
    var time: DecodingTime

    init(of head: RequestHead) {
      decoder = BodyDecoder(head.body)
      position = head.length
      isChunked = head.body == .chunked
      time = DecodingTime(of: head.body)
    }

    mutating func decode(_ input: Buffer) {
      guard !isBroken, position < input.count else { return }
      let began = time.now
      do throws(MessageError) {
        position += try input.withSpan { (bytes: Span<UInt8>) throws(MessageError) in
          let arrived = bytes.extracting(position..<bytes.count)
          return isChunked ? try decoder.decode(arrived, into: &data) : try decoder.decode(arrived).consumed
        }
      } catch {
        isBroken = true
      }
      time.add(since: began)
    }
  }

  /// Waits until the body of the request at the front of the input is complete or malformed, or as much of it has arrived
  /// as `makeRoom` permits. Then lets the handler decide from the decoded bytes. The received bytes stay in the buffer.
  func inspect(_ head: RequestHead, limit: Int) async -> Route {
    if head.expectsContinue, input.count == head.length { sendContinue() }
    var reading = BodyReading(until: poller.deadline(after: settings.configuration.bodyTimeout))
    var body = InspectedBody(of: head)
    defer { releaseCharge() }
    while true {
      let held = body.data.count
      body.decode(input)
      if body.decoder.isFinished || body.isBroken || !makeRoom(toInspect: head, limit: limit) {
        await yieldInLongTurn()
        return routeForm(head, body)
      }
      do throws(UnreadBody) {
        // What the handler reads from it is released in the same turn.
        guard charge(body.data.count - held) else { throw UnreadBody(.overloaded(.bufferMemory)) }
        try await receiveBody(&reading)
      } catch {
        return .answer(failure(error.failure, ofUnchanged: head, limit: error.limit))
      }
    }
  }

  /// Makes room to receive more of a body. Returns false if `limit` bytes of it have arrived, or if the process has no memory
  /// for a larger block. The exchange that forwards the body returns the larger block.
  private func makeRoom(toInspect head: RequestHead, limit: Int) -> Bool {
    if input.receiveRoom > 0 { return true }
    input.compact()
    if input.receiveRoom > 0 { return true }
    let awaited = if case .length(let count) = head.body { min(count, limit) } else { limit }
    let size = head.length + awaited
    return size > input.count && poller.buffers.enlarge(input, toReceive: size)
  }

  /// Returns the error response to the request at the front of the input, counts the limit, and informs the operator.
  func failure(_ error: ProxyFailure, ofUnchanged head: RequestHead, limit: LimitKind?) -> Response {
    if let limit { worker.metrics.recordLimit(limit) }
    return withRestoredFields(of: head) {
      failure(error, head, $0, requestFields, limit: limit)
    } unreadable: {
      $0
    }
  }

  private func routeForm(_ head: RequestHead, _ body: InspectedBody) -> Route {
    withRestoredFields(of: head) { bytes in
      body.isChunked
        ? routeForm(head, bytes, body.data.span, body.time)
        : routeForm(head, bytes, bytes.extracting(head.length..<body.position), body.time)
    } unreadable: {
      .refuse($0)
    }
  }

  private func routeForm(
    _ head: RequestHead, _ bytes: Span<UInt8>, _ body: Span<UInt8>, _ time: DecodingTime
  ) -> Route {
    let client = identity.facts(bytes, requestFields, requestNumber: requestNumber)
    time.charge(to: client.peer, worker.handler)
    return worker.handler.routeForm(head, bytes, requestFields, client: client, body: body)
  }

  /// Calls `use` with the bytes at the front of the input, after `requestFields` has the fields of `head` again: other
  /// connections have used it during a wait. If the head cannot be read again, calls `unreadable` with an error response.
  private func withRestoredFields<Result>(
    of head: RequestHead, _ use: (Span<UInt8>) -> Result, unreadable: (Response) -> Result
  ) -> Result {
    input.withSpan { bytes in
      do throws(MessageError) {
        try RequestHeadParser.restoreFields(of: head, bytes, into: requestFields)
      } catch {
        return unreadable(failure(.request(error), as: .page(), limit: nil, FailedRequest(peer: peer.host)))
      }
      return use(bytes)
    }
  }

  /// Sends 100 (Continue), for which the client may wait before it sends the body (RFC 9110, section 15.2.1).
  func sendContinue() {
    // These few bytes fit into the kernel's send buffer, because the connection has no other output.
    guard let interim = buffers.take() else { return }
    interim.append("HTTP/1.1 100 Continue\r\n\r\n")
    _ = socket.send(interim)
    buffers.giveBack(interim)
  }
}
