import AccessLog
import HTTP
import HTTP1
import Reactor
import Telemetry
import Time

/// One forwarded request and its response, both streamed with bounded memory (`forward`). Also streams the response to
/// an intercepted request, if the handler has sent its own request to the upstream (`relay`).
///
/// Theory of operation. Two pumps, upload and download, move as many bytes as they can without blocking. When neither
/// can move any, the exchange waits for both sockets at once, but only for events after which it can continue. So a
/// response that arrives before the request has ended stops the upload, and a client that goes away cancels the
/// request. Until the first byte of a response has been received, an idempotent request without a body can be sent
/// again on another connection. For this, the send buffer keeps the encoded head.
///
/// If the client accepts no more, but the whole response has been received, the exchange takes the rest out of the
/// buffer of the upstream connection and releases the connection, which other requests may wait for.
final class Exchange {
  enum Failure: Error {
    /// A failure that `ExchangeState` has found.
    case state(ExchangeState.Failure)
    /// The client's body is malformed.
    case request(MessageError)
    case upstream(UpstreamFailure)
    /// The client's address holds too many upstream connections while few are free.
    case tooManyRequests
    /// The client's body has more bytes than its route permits.
    case bodyTooLarge(limit: Int)
    /// The response has a location or link that must not reach the browser.
    case withheld(Response)
  }

  let clientConnection: ServerConnection
  let worker: ProxyWorker
  // Cached to avoid a retain and release per use.
  let poller: Poller
  let buffers: BufferPool
  let pool: UpstreamPool
  let metrics: any ProxyMetrics
  let stream: HTTP2StreamTransport?
  let fromClient: Buffer
  let requestFields: HeadIndex
  let responseFields: HeadIndex
  /// The send buffers keep their blocks between exchanges, so that a busy connection does not take and return blocks
  /// for each exchange.
  let toUpstream = Buffer()
  let toClient = Buffer()

  /// The state of the current exchange. The first value is a placeholder: each exchange begins with a state of its own.
  var state = ExchangeState(relayedRequestAllowsReuse: true)
  var deadlines: ExchangeDeadlines
  var upload = BodyPump(.none, as: .plain)
  var download = BodyPump(.none, as: .plain)
  var reader = ResponseHeadReader()
  /// The parts of a request with a body that are kept after they were sent to the upstream.
  var heldRequest = HeldRequest()
  /// True if the request carried the handler's own cookie (`ProxyConfiguration.handlerCookie`).
  private(set) var requestHasHandlerCookie = false
  /// True if the trailers of the request must not be forwarded (`HeadIndex.hasRemovingOption`).
  private(set) var dropsTrailers = false
  /// True if the client accepts trailers in the response; false for an intercepted request.
  private(set) var acceptsTrailers = false
  /// The part of a trailer section that was read.
  var trailers: [UInt8] = []
  /// The `X-Request-ID` line for the upstream and for the client; empty unless the configuration adds such lines.
  private(set) var requestIDLine: [UInt8] = []
  /// The route of a passing request; `nil` if its path has none.
  var route: CompiledRoute?
  /// The id of the address that sent the response; `nil` if the upstream has one address.
  var answeringAddress: UInt16?
  /// The upstream address that suits the request.
  private var preference = AddressPreference.none
  /// The status of the response.
  var status = 0
  /// The number of bytes received from the client since the exchange began.
  var uploaded = 0
  /// The number of bytes sent to the client after the head of the response; negative until the head is sent.
  var sent = 0
  /// The length of the request head if it is still at the front of the receive buffer although the response has begun.
  /// It stays there until the response ends, so that a message about a failure can name the request. Otherwise 0.
  var keptHead = 0
  /// The time at which the request head was complete, in monotonic nanoseconds.
  private(set) var began: MonotonicInstant = 0

  init(_ clientConnection: ServerConnection) {
    self.clientConnection = clientConnection
    worker = clientConnection.worker
    poller = clientConnection.poller
    buffers = clientConnection.buffers
    pool = clientConnection.worker.pool
    metrics = clientConnection.worker.metrics
    stream = clientConnection.stream
    fromClient = clientConnection.input
    requestFields = clientConnection.worker.requestFields
    responseFields = clientConnection.worker.responseFields
    deadlines = ExchangeDeadlines(requestTimeout: 0, now: 0)
  }

  /// Releases the blocks of the buffers, because the connection parks or ends, or the stream ends. The next exchange
  /// acquires them again.
  func release() {
    buffers.giveBack(toUpstream)
    buffers.giveBack(toClient)
  }

  // MARK: Entry points

  /// Resets the object for the next exchange. One object serves all exchanges of a connection, to save an allocation
  /// for each. Returns false if there is no memory for the buffers.
  private func begin(_ state: ExchangeState, _ began: MonotonicInstant) -> Bool {
    self.state = state
    self.began = began
    upload = BodyPump(.none, as: .plain)
    deadlines = ExchangeDeadlines(
      requestTimeout: worker.settings.configuration.limits.requestTimeout, now: poller.now)
    requestHasHandlerCookie = false
    if route != nil { route = nil }
    if !requestIDLine.isEmpty { requestIDLine = [] }
    status = 0
    uploaded = 0
    sent = 0
    return buffers.ensureBlock(in: toUpstream) && buffers.ensureBlock(in: toClient)
  }

  /// Forwards the request whose head is at the front of the connection's input.
  func forward(_ head: RequestHead, began: MonotonicInstant) async {
    guard begin(ExchangeState(.body(isLast: !head.method.serversReadContent)), began) else {
      fromClient.consume(head.length)
      return await failWithoutBuffers(head)
    }
    var refusal = worker.settings.routes == nil ? nil : findRoute(head)
    let asksForSwitch = rewrite(head)
    if route != nil, !appendRouteFields() { refusal = .noRoom }
    // Before the first look-up, the number of addresses is not known.
    preference = pool.targets.count == 1 ? .none : preferredAddress()
    var body = head.body
    if body == .none {
      state = ExchangeState(.head(isIdempotent: head.method.isIdempotent, asksForSwitch: asksForSwitch))
    } else {
      keepCopy(of: head)
      fromClient.consume(head.length)
    }
    do throws(Failure) {
      if let refusal { throw refusal.failure }
      if body != .none {
        body = try await bufferRequest(head)
        // The upstream cannot leave an empty body unread, so it is not asked to close the connection.
        if body == .none { state = ExchangeState(.body(isLast: false)) }
      }
      RequestRewriter.writeEnd(head.method, body, to: toUpstream)
      if head.body != .none {
        upload = BodyPump(head.body, as: body == .chunked ? .chunked : .plain)
        upload.keepsTrailers = body == .chunked && readsTrailers
      }
      let headCount = toUpstream.count
      var mayUseIdle = true
      while true {
        if clientConnection.isAbandoned { throw .state(.clientGone) }
        if pool.holdsTooMany(clientConnection) { throw .tooManyRequests }
        let upstream: UpstreamConnection
        if mayUseIdle, let idle = idleConnection() {
          upstream = idle
        } else {
          upstream = try await connect(mayUseIdle: mayUseIdle)
        }
        if let entry = clientConnection.accessEntry { entry.upstream = upstream.name }
        upstream.holder = clientConnection.limitedAddress
        let outcome = try await transfer(connected(upstream, head), upstream, head)
        if outcome == .released { try await deliver() }
        if outcome != .retry { break }
        mayUseIdle = false
        // The first attempt has sent or dropped bytes of the head: make all of them readable again.
        toUpstream.rewind(to: headCount)
        deadlines.restartResponseTimeout()
      }
    } catch {
      await fail(error, head)
    }
    clear()
  }

  /// Sends `response`, the head made by a handler, and then streams the body of `upstreamResponse`.
  func relay(
    _ upstreamResponse: UpstreamResponse, _ response: Response, to head: RequestHead, began: MonotonicInstant
  ) async {
    guard begin(ExchangeState(relayedRequestAllowsReuse: upstreamResponse.requestAllowsReuse), began) else {
      return await failWithoutBuffers(head)
    }
    acceptsTrailers = false
    let upstream = upstreamResponse.takeConnection()
    upstream.holder = clientConnection.limitedAddress
    do throws(Failure) {
      let action = state.step(try beginRelay(response, upstreamResponse.parsed, head, of: upstream))
      await clientConnection.waiter.joinSendBatch()
      if try await transfer(action, upstream, head) == .released { try await deliver() }
    } catch {
      await fail(error, head)
    }
    clear()
  }

  /// Ends an exchange that has no buffers. The error response may use the block of one that has got its block.
  private func failWithoutBuffers(_ head: RequestHead) async {
    release()
    await fail(.upstream(.outOfMemory(afterSending: false)), head)
  }

  /// Writes the head for the upstream, except its end (`RequestRewriter.writeEnd`). `requestFields` still contains the
  /// fields of this request, because there was no wait since they were parsed. Returns true if the request asks for an
  /// upgrade to an allowed protocol.
  private func rewrite(_ head: RequestHead) -> Bool {
    let settings = worker.settings
    if settings.configuration.addsRequestIDs {
      let id = worker.handler.requestID(clientConnection.reference)
      requestIDLine = Array("\(RequestReference.fieldName): \(id)\r\n".utf8)
    }
    return fromClient.withSpan { bytes in
      let written = RequestRewriter.write(
        head, bytes, requestFields, clientConnection.identity, settings, to: toUpstream)
      if !requestIDLine.isEmpty { toUpstream.append(requestIDLine) }
      requestHasHandlerCookie = written.requestHasHandlerCookie
      acceptsTrailers = written.acceptsTrailers
      dropsTrailers = requestFields.hasRemovingOption
      if written.dropsFields { clientConnection.reportDroppedFields(bytes) }
      if let name = written.cookieParameter { clientConnection.reportCookie(ofParameter: name, bytes) }
      return RequestRewriter.allowedUpgrade(head, bytes, settings) != nil
    }
  }

  func clear() {
    toUpstream.clear()
    toClient.clear()
    heldRequest.clear(buffers)
  }

  // MARK: Transfer

  private enum Outcome {
    case finished
    /// The upstream connection was released; the client has not accepted the rest of the response (`deliver`).
    case released
    case retry
  }

  private func idleConnection() -> UpstreamConnection? {
    pool.takeIdle(mayRepeat: state.mayRepeat, mayUseReserved: false, preferring: preference)
  }

  private func connect(mayUseIdle: Bool) async throws(Failure) -> UpstreamConnection {
    do throws(UpstreamFailure) {
      let upstream = try await pool.take(
        mayUseIdle: mayUseIdle, mayRepeat: state.mayRepeat, preferring: preference, for: clientConnection)
      if !upstream.isReused { clientConnection.accessEntry?.upstreamConnected(at: SystemClock.monotonicInstant()) }
      return upstream
    } catch {
      if case .clientGone = error { throw .state(.clientGone) }
      throw .upstream(error)
    }
  }

  /// Sends 100 (Continue) if the client waits for it before it sends the body. Returns the first action after
  /// `upstream` was obtained.
  private func connected(_ upstream: UpstreamConnection, _ head: RequestHead) -> ExchangeState.Action {
    if head.expectsContinue, fromClient.isEmpty { clientConnection.sendContinue() }
    return state.step(isClientGone ? .clientGone : .connected(isReused: upstream.isReused))
  }

  /// Performs `first` and then the actions that `state` returns, until the exchange ends or must be retried.
  private func transfer(
    _ first: ExchangeState.Action, _ upstream: UpstreamConnection, _ head: RequestHead
  ) async throws(Failure) -> Outcome {
    reader = ResponseHeadReader()
    var action = first
    do throws(Failure) {
      while true {
        switch action {
        case .upload: action = state.step(try stepUpload(upstream))
        case .download: action = state.step(try stepDownload(upstream, head))
        case .shutDownUpstream:
          upstream.socket.shutdownWrite()
          action = state.step(.upload(.done))
        case .wait:
          let interest = state.interest
          let wake = await clientConnection.waiter.wait(
            clientConnection.socket, interest.client.union(endOfClient), upstream.socket, interest.upstream,
            until: deadlines.begin(state, timeouts, now: poller.now, clientBytes: clientBytes))
          action = state.step(event(after: wake))
        case .yield:
          let resumed = await yieldShare()
          action = state.step(resumed)
        case .finish(let mayReuse):
          finish()
          giveBack(upstream, mayReuse: mayReuse)
          return .finished
        case .release(let mayReuse):
          giveBack(upstream, mayReuse: mayReuse)
          return .released
        case .closeQuietTunnel:
          metrics.recordLimit(.tunnelTimeout)
          finish()
          giveBack(upstream, mayReuse: false)
          return .finished
        case .retry:
          pool.retire(upstream)
          return .retry
        // The state returns this action only after a release, to `deliver`.
        case .finishDelivery: throw .state(.upstreamReset)
        case .fail(let failure): throw .state(failure)
        }
      }
    } catch {
      noteLostRequest(error, upstream)
      pool.retire(upstream)
      throw error
    }
  }

  /// Sends the rest of a response whose upstream connection was released; `transfer` has returned `released`. The rest
  /// is in `toClient`.
  private func deliver() async throws(Failure) {
    // A client that accepts nothing keeps only the block with the rest of its response.
    buffers.giveBack(toUpstream)
    dropKeptHead()
    clientConnection.releaseInput()
    heldRequest.clear(buffers)
    var action = state.step(.download(.waiting(.client)))
    while true {
      switch action {
      case .download: action = state.step(stepDelivery())
      case .wait:
        let wake = await clientConnection.waiter.wait(
          clientConnection.socket, state.interest.client.union(endOfClient),
          until: deadlines.begin(state, timeouts, now: poller.now, clientBytes: clientBytes))
        action = state.step(event(after: wake))
      case .yield:
        let resumed = await yieldShare()
        action = state.step(resumed)
      case .finishDelivery:
        return finish()
      case .fail(let failure): throw .state(failure)
      // The state returns no other action after the release.
      case .upload, .shutDownUpstream, .retry, .finish, .release, .closeQuietTunnel: throw .state(.upstreamReset)
      }
    }
  }

  /// Lets other tasks run. Returns the event with which the exchange continues.
  private func yieldShare() async -> ExchangeState.Event {
    await clientConnection.waiter.yieldShare()
    // If bytes always moved, there was no wait that could check the deadline.
    if deadlines.requestHasTimedOut(state, now: poller.now) { return .expired(.request) }
    return isClientGone ? .clientGone : .yielded
  }

  private func event(after wake: Wake) -> ExchangeState.Event {
    if deadlines.mayHaveExceededLimit(wake),
      let limit = deadlines.end(
        wake, state, timeouts, now: poller.now, clientBytes: clientBytes,
        unit: { clientConnection.socket.acknowledgementUnit })
    {
      return .expired(limit)
    }
    return isClientGone ? .clientGone : .woke
  }

  /// Waits until the client has sent more of the request. Returns the event with which the exchange continues.
  func waitForClient() async -> ExchangeState.Event {
    let wake = await clientConnection.waiter.wait(
      clientConnection.socket, state.interest.client.union(endOfClient),
      until: deadlines.begin(state, timeouts, now: poller.now, clientBytes: clientBytes))
    return event(after: wake)
  }

  private func finish() {
    dropKeptHead()
    clientConnection.state.finishedResponse()
    metrics.requestFinished(
      .passed, status: status, nanoseconds: (SystemClock.monotonicInstant() - began).count)
  }

  private func giveBack(_ upstream: UpstreamConnection, mayReuse: Bool) {
    if mayReuse { pool.giveBack(upstream) } else { pool.retire(upstream) }
  }

  /// The states of the client's socket that end the exchange; only `.broken` once the response has begun.
  private var endOfClient: Readiness { state.hasResponse ? .broken : clientConnection.abandonment }

  private var isClientGone: Bool { !clientConnection.socket.readiness.isDisjoint(with: endOfClient) }

  private var timeouts: ExchangeDeadlines.Settings { route?.timeouts ?? worker.settings.exchangeTimeouts }

  /// Returns the number of bytes that the client has sent, or acknowledged once the request is sent. Bytes that the
  /// kernel still holds for the client do not count.
  private func clientBytes() -> Int { state.isUploading ? uploaded : clientConnection.socket.acknowledged }
}
