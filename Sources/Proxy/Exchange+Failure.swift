internal import ByteText
import HTTP
import HTTP1
import Reactor
import Telemetry
import Time

/// The end of an exchange whose client does not get the complete response of the upstream.
extension Exchange {
  func fail(_ failure: Failure, _ head: RequestHead) async {
    switch failure {
    case .state(.clientGone): await end(head, with: nil, limit: nil)
    case .state(.clientTimeout): await end(head, with: .timeout, limit: .bodyTimeout)
    case .state(.tooSlow): await end(head, with: .timeout, limit: .minimumRate)
    case .state(.tooLong):
      await end(head, with: state.isUploading ? .timeout : .upstream(.responseTimeout), limit: .requestTimeout)
    case .state(.responseTimeout): await end(head, upstream: .responseTimeout)
    case .state(.upstreamReset): await end(head, upstream: .reset)
    case .upstream(let error): await end(head, upstream: error)
    case .request(let error): await end(head, with: .request(error), limit: nil)
    case .bodyTooLarge(let limit): await end(head, with: .bodyTooLarge(limit: limit), limit: .body)
    case .tooManyRequests: await end(head, with: .overloaded(.requestsPerAddress), limit: .requestsPerAddress)
    case .withheld(let response): await answer(withheld: response, head)
    }
  }

  private func end(_ head: RequestHead, upstream error: UpstreamFailure) async {
    metrics.upstreamFailed(error)
    let failure = ProxyFailure.upstream(error)
    await end(head, with: failure, limit: failure.limit(at: .afterHead))
  }

  /// Cuts the response if it has begun. Otherwise answers with `failure`, or sends nothing if `failure` is `nil`
  /// because the client has gone.
  ///
  /// - Parameter limit: the limit to count in the metrics, if the client or the upstream has exceeded one.
  private func end(_ head: RequestHead, with failure: ProxyFailure?, limit: LimitKind?) async {
    // Read first, because `clear()` and the next lines discard the head.
    let request = failure == nil ? nil : failedRequest(head)
    if let limit { metrics.recordLimit(limit) }
    clear()
    dropUnsentBody()
    if state.isHeadInBuffer { fromClient.consume(head.length) }
    dropKeptHead()
    if clientConnection.state.hasStartedResponse {
      clientConnection.state.cutResponse()
      metrics.requestFinished(
        .passed, status: status, nanoseconds: (SystemClock.monotonicInstant() - began).count)
      if let failure, let request { clientConnection.report(failure.reason(limit), status: 0, request.description) }
      return
    }
    guard let failure, let request else {
      // The status 0: the client got no response. The access log shows 499.
      metrics.requestFinished(.passed, status: 0, nanoseconds: (SystemClock.monotonicInstant() - began).count)
      return
    }
    await clientConnection.answer(
      clientConnection.failure(failure, as: request.form, limit: limit, request.description), to: head.method,
      minorVersion: head.minorVersion, began: began, .refused)
  }

  /// Returns the request for a message to the operator, and the form of the error response that it asks for: a page if
  /// the head is no longer available.
  private func failedRequest(_ head: RequestHead) -> (description: FailedRequest, form: ErrorForm) {
    if let intercepted = clientConnection.interceptedRequest { return (FailedRequest(intercepted), .page()) }
    guard state.isHeadInBuffer || keptHead > 0 || !heldRequest.head.isEmpty else {
      return (FailedRequest(peer: clientConnection.peer.host), .page())
    }
    do throws(MessageError) {
      let request = try request(head)
      return (FailedRequest(request), ErrorForm(request.headers))
    } catch {
      return (FailedRequest(peer: clientConnection.peer.host), .page())
    }
  }

  /// Drops the head of the request from the receive buffer when the response has ended, or must not keep the buffer.
  func dropKeptHead() {
    guard keptHead > 0 else { return }
    fromClient.consume(keptHead)
    keptHead = 0
  }

  // MARK: Withheld responses

  /// Copies the parts of the request that the handler needs if the response is withheld: the head and, if the request
  /// carries the handler's own cookie, the body. Called only for a request with a body.
  func keepCopy(of head: RequestHead) {
    heldRequest.begin(
      head: fromClient.bytes(from: 0, count: head.length), body: requestHasHandlerCookie ? head.body : nil)
  }

  /// Prepares body bytes for the upstream like `upload.advance`, and also adds these bytes to `heldRequest`.
  func advanceAndKeepCopy() throws(MessageError) {
    let bytes = fromClient.bytes(from: 0, count: fromClient.count)
    try upload.advance(from: fromClient, to: toUpstream)
    // The bytes that the pump has decoded: those that it has consumed, and those that are sent directly.
    heldRequest.append(
      bytes.prefix(bytes.count - fromClient.count + upload.directCount),
      limit: worker.settings.configuration.limits.requestCopy, buffers)
  }

  /// Lets the handler answer in place of the upstream. The upstream connection is already closed, so the rest of the
  /// upstream's response is discarded.
  private func answer(withheld response: Response, _ head: RequestHead) async {
    let isComplete = state.isHeadInBuffer || heldRequest.isComplete
    let request: Result<Request, MessageError>
    do throws(MessageError) { request = .success(try self.request(head)) } catch { request = .failure(error) }
    clear()
    dropUnsentBody()
    if state.isHeadInBuffer { fromClient.consume(head.length) }
    let answer: Response
    switch request {
    case .success(let request):
      let withheld = WithheldResponse(response: response, request: request, isComplete: isComplete)
      answer = await worker.handler.respond(
        to: withheld, upstream: Upstream(clientConnection, answeringAddress: answeringAddress))
    case .failure(let error):
      let peer = FailedRequest(peer: clientConnection.peer.host)
      answer = clientConnection.failure(.request(error), as: .page(), limit: nil, peer)
    }
    await clientConnection.answer(
      answer, to: head.method, minorVersion: head.minorVersion, began: began, .handlerResponse)
  }

  /// Returns the request as a value. Reads the fields of the head again, because other connections have used
  /// `requestFields` since the first time.
  private func request(_ head: RequestHead) throws(MessageError) -> Request {
    let kept = heldRequest.head
    var request =
      kept.isEmpty
      ? try fromClient.withSpan { (bytes: Span<UInt8>) throws(MessageError) in try readAgain(head, bytes) }
      : try readAgain(head, kept.span)
    request.body = heldRequest.body
    return request
  }

  /// Returns the path of the request, as sent.
  func path(of head: RequestHead) -> [UInt8] {
    let kept = heldRequest.head
    guard kept.isEmpty else { return Array(kept[head.path]) }
    return fromClient.bytes(from: head.path.lowerBound, count: head.path.count)
  }

  private func readAgain(_ head: RequestHead, _ bytes: Span<UInt8>) throws(MessageError) -> Request {
    try RequestHeadParser.restoreFields(of: head, bytes, into: requestFields)
    return RequestReader.read(
      head, bytes, requestFields, clientConnection.identity, worker.settings, number: clientConnection.requestNumber)
  }
}

/// A copy of the parts of a passing request that the handler needs if the response is withheld (`WithheldResponse`).
///
/// Only a request with a body is copied. The head of any other request stays at the front of the receive buffer until a
/// response begins.
struct HeldRequest {
  /// The head; its storage is reused for each request of the connection.
  private(set) var head: [UInt8] = []
  private(set) var body: [UInt8] = []
  /// Decodes the body a second time, independently of the upload; `nil` if the body is not kept.
  private var decoder: BodyDecoder?
  /// False if the body exceeded the limit or there was no memory for it; then `body` is empty.
  private var fits = true

  /// True if the body is kept, as far as limit and memory allow.
  var keepsBody: Bool { decoder != nil }
  /// True if `body` is kept and complete.
  var isComplete: Bool { fits && decoder?.isFinished ?? false }

  /// Starts to keep a request.
  ///
  /// - Parameter framing: the framing of the body; `nil` if only the head is kept.
  mutating func begin(head bytes: [UInt8], body framing: BodyFraming?) {
    head += bytes
    decoder = framing.map { BodyDecoder($0) }
  }

  /// The number of body bytes that are kept while any memory is left. Most forms have far fewer. More bytes are kept only
  /// while less than half of the memory is in use, so that copies do not take the memory that new requests need.
  private static let keptWhileMemoryIsShort = 64 * 1024

  /// Decodes a piece of the body and adds its data. Drops the whole body if it exceeds the limit or memory is short.
  mutating func append(_ piece: ArraySlice<UInt8>, limit: Int, _ buffers: BufferPool) {
    guard fits, var decoder else { return }
    defer { self.decoder = decoder }
    let charged = body.count
    do throws(MessageError) {
      _ = try decoder.decode(piece.span, into: &body)
      let added = body.count - charged
      fits =
        body.count <= limit && buffers.hasRoom(for: added)
        && (body.count <= HeldRequest.keptWhileMemoryIsShort || buffers.bytes + added <= buffers.limit / 2)
      if fits { return buffers.charge(added) }
    } catch {
      // Not reached: the decoder of the upload has accepted the same bytes.
      fits = false
    }
    body.removeSubrange(charged...)
    dropBody(buffers)
  }

  /// Drops the request.
  mutating func clear(_ buffers: BufferPool) {
    guard !head.isEmpty else { return }
    head.removeAll(keepingCapacity: true)
    decoder = nil
    fits = true
    dropBody(buffers)
  }

  private mutating func dropBody(_ buffers: BufferPool) {
    buffers.release(body.count)
    body = []
  }
}
