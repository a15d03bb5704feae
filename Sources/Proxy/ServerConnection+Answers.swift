import AccessLog
internal import ByteText
import HTTP
import HTTP1
import HTTP2
import Reactor
import Telemetry
import Time

/// Sending of responses that the gateway itself creates or has read completely.
extension ServerConnection {
  /// Sends the response, except its body if the request or the status forbids one. Sends nothing if there is no memory;
  /// the connection then ends.
  ///
  /// - Parameter began: the time at which the request head was complete, in monotonic nanoseconds; 0 without a head.
  func answer(
    _ given: Response, to method: Method, minorVersion: Int, began: MonotonicInstant, _ handling: RequestHandling
  ) async {
    let (response, fields) = encoded(given)
    // Join the send batch before taking a buffer: many tasks may wait here.
    await waiter.joinSendBatch()
    guard let buffer = buffers.take() else {
      return worker.metrics.requestFinished(handling, status: 0, nanoseconds: 0)
    }
    if poller.isDraining || worker.drainsSoon { state.refuseFurtherRequests() }
    if let line = response.reason.flatMap({ _ in ResponseEncoder.statusLine(response) }) {
      // A response of the upstream, which may have its own date.
      buffer.append(line)
      buffer.append(fields)
      if !response.headers.contains("Date") { buffer.append(worker.dateLine) }
    } else {
      buffer.append(ResponseEncoder.statusLine(response.status))
      buffer.append(worker.dateLine)
      buffer.append(fields)
    }
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
    buffers.wipeAndGiveBack(buffer)
    if isCut { state.cutResponse() } else { state.finishedResponse() }
    if let accessEntry {
      accessEntry.status = response.status
      if let rule = given.rule { accessEntry.reason = rule }
      accessEntry.bytesOut = position
    }
    let duration = began == 0 ? 0 : (SystemClock.monotonicInstant() - began).count
    worker.metrics.requestFinished(handling, status: response.status, nanoseconds: duration)
  }

  /// Returns the response and its encoded fields. If the fields cannot be encoded or are too long, returns an error
  /// response and its fields instead.
  private func encoded(_ response: Response) -> (Response, [UInt8]) {
    let room = Buffer.capacity - ResponseEncoder.headOverhead - (response.reason?.utf8.count ?? 0)
    if let fields = ResponseEncoder.fields(response.headers, strictTransport: strictTransport), fields.count <= room {
      return (response, fields)
    }
    let failure = failure(
      .upstream(.malformed("a head that cannot be written")), as: .page(), limit: nil,
      interceptedRequest.map { FailedRequest($0) } ?? FailedRequest(peer: peer.host))
    if let fields = ResponseEncoder.fields(failure.headers, strictTransport: strictTransport), fields.count <= room {
      return (failure, fields)
    }
    return (Response(status: 502), [])
  }

  /// Returns the deadline for a client to read a response of `count` body bytes at the minimum rate.
  private func answerDeadline(_ count: Int) -> Deadline {
    let rate = settings.configuration.limits.minimumRate
    let reading = rate > 0 ? Milliseconds(for: count, perSecond: rate) : 0
    return poller.deadline(after: settings.configuration.bodyTimeout + reading)
  }

  /// Sends the whole buffer. Returns false if the client has gone or does not read.
  private func flush(_ buffer: Buffer, until deadline: Deadline) async -> Bool {
    while !buffer.isEmpty {
      switch socket.send(buffer) {
      case .moved: continue
      case .wouldBlock:
        let progress = poller.deadline(after: settings.configuration.bodyTimeout)
        switch await waiter.wait(socket, .writable, until: min(deadline, progress)) {
        case .ready: continue
        case .timedOut:
          worker.metrics.recordLimit(.bodyTimeout)
          return false
        case .draining, .park: return false
        }
      case .ended, .failed: return false
      }
    }
    return true
  }

  /// Answers a request that cannot be read to its end, or a connection that is not admitted, and closes the connection.
  func refuse(_ failure: ProxyFailure) async {
    recordLimit(of: failure, at: .awaitingHead)
    // The head may be incomplete, and the rest of the request is unread. So that `finish` discards the rest before it
    // closes the connection, the request counts as one whose body is awaited.
    state.receivedHead(hasBody: true, keepsAlive: false)
    if hasSentPreface() { return await refuseHTTP2() }
    // The `Accept` field is unknown here.
    beginUnreadRequest()
    if let log = worker.accessLog { beginUnreadEntry(log) }
    let response = self.failure(
      failure, as: .page(), limit: failure.limit(at: .awaitingHead), FailedRequest(peer: peer.host))
    await answer(response, to: seemsToBeHead ? .head : .get, minorVersion: 1, began: 0, .refused)
    if let accessEntry { end(accessEntry) }
    await finish()
  }

  /// True if a request that cannot be read begins with the method HEAD: a response to it has no body (RFC 9110, section
  /// 9.3.2).
  private var seemsToBeHead: Bool {
    if let stream { return stream.stream.isHeadRequest }
    return input.withSpan { bytes in
      // RFC 9112, section 2.2: one empty line in front of the request line is ignored.
      let start = bytes.count > 1 && bytes[0] == .carriageReturn && bytes[1] == .lineFeed ? 2 : 0
      return bytes.extracting(start...).starts(with: ServerConnection.headMethod.span)
    }
  }

  private static let headMethod = Array("HEAD ".utf8)

  /// Counts the limit that caused a failure.
  func recordLimit(of failure: ProxyFailure, at stage: FailureStage) {
    if let limit = failure.limit(at: stage) { worker.metrics.recordLimit(limit) }
  }
}
