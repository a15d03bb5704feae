import HTTP
import HTTP1
import Reactor

/// A response that the handler answers in the upstream's place.
extension Exchange {
  /// Keeps what the handler needs of a request with a body, should its response be withheld: the head, and the body of a
  /// request that carries the private cookie.
  func hold(_ head: RequestHead) {
    held.hold(head: fromClient.bytes(from: 0, count: head.length), body: carriesCookie ? head.body : nil)
  }

  /// Moves the body on as without a copy, and keeps what was decoded.
  func advanceAndHold() throws(MessageError) {
    let bytes = fromClient.bytes(from: 0, count: fromClient.count)
    try upload.advance(from: fromClient, to: toUpstream)
    held.append(bytes.prefix(bytes.count - fromClient.count + upload.direct), buffers)
  }

  /// Answers in place of the upstream's response. The upstream's connection has been retired with its body.
  func answer(withheld response: Response, _ head: RequestHead) async {
    let isComplete = keepsHead || held.isWhole
    let request = request(head)
    clear()
    dropUnsentBody()
    if keepsHead {
      fromClient.consume(head.length)
      keepsHead = false
    }
    let withheld = WithheldResponse(response: response, request: request, isComplete: isComplete)
    let answer = await worker.handler.respond(to: withheld, upstream: Upstream(server))
    await server.answer(answer, to: head.method, minorVersion: head.minorVersion, began: began, .intercepted)
  }

  /// The request as values. Other connections have used `requestFields` since the head was parsed.
  func request(_ head: RequestHead) -> Request {
    let kept = held.head
    var request = keepsHead ? fromClient.withSpan { values(head, $0) } : values(head, kept.span)
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
