import HTTP
import HTTP1
import Reactor
import Telemetry

/// The ends of an exchange whose response is not the upstream's.
extension Exchange {
  func fail(_ failure: Failure, _ head: RequestHead) async {
    switch failure {
    case .state(.clientGone): await end(head, nil, nil)
    case .state(.clientTimeout): await end(head, .timeout, .bodyTimeout)
    case .state(.tooSlow): await end(head, .timeout, .minimumRate)
    case .state(.tooLong):
      await end(head, state.isUploading ? .timeout : .upstream(.responseTimeout), .requestTimeout)
    case .state(.responseTimeout): await end(head, upstream: .responseTimeout)
    case .state(.upstreamReset): await end(head, upstream: .reset)
    case .upstream(let error): await end(head, upstream: error)
    case .request(let error): await end(head, .request(error), nil)
    case .withheld(let response): await answer(withheld: response, head)
    }
  }

  private func end(_ head: RequestHead, upstream error: UpstreamFailure) async {
    metrics.upstreamFailed(error)
    let failure = ProxyFailure.upstream(error)
    await end(head, failure, failure.limit(in: .body))
  }

  /// Cuts the response if it has begun; else answers with `failure`, or not at all if the client is gone.
  private func end(_ head: RequestHead, _ failure: ProxyFailure?, _ limit: LimitKind?) async {
    let form = server.state.hasStartedResponse ? .page : errorForm(head)
    if let limit { metrics.recordLimit(limit) }
    clear()
    dropUnsentBody()
    if server.state.hasStartedResponse {
      server.state.cutResponse()
      metrics.requestFinished(
        .passed, status: status, nanoseconds: SystemClock.monotonicNanoseconds() - began)
      return
    }
    if state.isHeadInBuffer { fromClient.consume(head.length) }
    guard let failure else { return }
    await server.answer(
      worker.handler.failure(failure, as: form), to: head.method, minorVersion: head.minorVersion, began: began,
      .refused)
  }

  /// Returns the form of the error response. The form is a page if the request head is not kept, as for an intercepted
  /// request.
  private func errorForm(_ head: RequestHead) -> ErrorForm {
    state.isHeadInBuffer || !held.head.isEmpty ? ErrorForm(request(head).headers) : .page
  }

  // MARK: Withheld responses

  /// Keeps what the handler needs of a request with a body, should its response be withheld: the head, and the body of a
  /// request that carries the private cookie.
  func hold(_ head: RequestHead) {
    held.hold(head: fromClient.bytes(from: 0, count: head.length), body: requestHasPrivateCookie ? head.body : nil)
  }

  /// Moves the body on as without a copy, and keeps what was decoded.
  func advanceAndHold() throws(MessageError) {
    let bytes = fromClient.bytes(from: 0, count: fromClient.count)
    try upload.advance(from: fromClient, to: toUpstream)
    held.append(bytes.prefix(bytes.count - fromClient.count + upload.direct), buffers)
  }

  /// Lets the handler answer in place of the upstream, whose connection has been retired with its response.
  private func answer(withheld response: Response, _ head: RequestHead) async {
    let isComplete = state.isHeadInBuffer || held.isWhole
    let request = request(head)
    clear()
    dropUnsentBody()
    if state.isHeadInBuffer { fromClient.consume(head.length) }
    let withheld = WithheldResponse(response: response, request: request, isComplete: isComplete)
    let answer = await worker.handler.respond(to: withheld, upstream: Upstream(server))
    await server.answer(answer, to: head.method, minorVersion: head.minorVersion, began: began, .intercepted)
  }

  /// The request as values. Other connections have used `requestFields` since the head was parsed.
  private func request(_ head: RequestHead) -> Request {
    let kept = held.head
    var request = state.isHeadInBuffer ? fromClient.withSpan { values(head, $0) } : values(head, kept.span)
    request.body = held.body
    return request
  }

  private func values(_ head: RequestHead, _ bytes: Span<UInt8>) -> Request {
    _ = try? RequestHeadParser.parse(
      bytes, length: head.length, limits: worker.settings.configuration.limits.head, into: requestFields)
    return RequestReader.read(
      head, bytes, requestFields, server.identity, worker.settings, number: server.requestNumber)
  }
}
