import HTTP1
import Reactor

/// The part of a request body that arrives before the request takes an upstream connection.
extension Exchange {
  /// Receives the body of the request until it is complete, or fills the request buffer (`ProxyLimits.requestBuffer`).
  /// So a client that sends its body slowly, or only a part of it, does not occupy an upstream connection.
  ///
  /// A stream of HTTP/2 gets credit for the bytes in the request buffer, because the buffer is bounded and may be larger
  /// than the window of the stream. The credit for the last bytes of a full buffer is given when they are forwarded.
  ///
  /// Returns the framing in which the body is sent to the upstream. For a complete chunked body this is a length,
  /// because many old servers do not accept chunks, or `.none` without data: an HTTP/2 request that is ended by an empty
  /// DATA frame is sent without a body. A body stays chunked if trailers may be forwarded after it.
  ///
  /// Without a request buffer, waits only for a chunked body with a method whose content servers may ignore, until the
  /// first data, unless the client waits for 100 (Continue).
  func bufferRequest(_ head: RequestHead) async throws(Failure) -> BodyFraming {
    let limit = route?.requestBuffer ?? worker.settings.configuration.limits.requestBuffer
    var body = ArrivedBody(head.body)
    var sendsContinue = head.expectsContinue && limit > 0
    while true {
      try read(&body)
      if let route { try route.checkBody(body.count) }
      if body.isComplete {
        guard head.body == .chunked else { return head.body }
        if body.count == 0 { return .none }
        guard let trailers = body.trailers, readsTrailers else { return .length(body.count) }
        if worker.settings.configuration.forwardsTrailers { return .chunked }
        try checkDroppedTrailers(trailers)
        return .length(body.count)
      }
      let waits =
        limit > 0
        ? makeRoom(limit, for: head.body)
        : head.body == .chunked && body.count == 0 && !head.method.serversReadContent && !head.expectsContinue
      guard waits else { return head.body }
      if sendsContinue, fromClient.isEmpty { clientConnection.sendContinue() }
      sendsContinue = false
      try await receiveBody()
    }
  }

  private func read(_ body: inout ArrivedBody) throws(Failure) {
    do throws(MessageError) {
      try fromClient.withSpan { (bytes: Span<UInt8>) throws(MessageError) in try body.read(bytes) }
    } catch {
      throw .request(error)
    }
  }

  /// Refuses dropped trailers for the same reasons as those that are forwarded, before any of the request is sent.
  ///
  /// - Parameter section: The range of the trailer section in the receive buffer.
  private func checkDroppedTrailers(_ section: Range<Int>) throws(Failure) {
    do throws(MessageError) {
      try TrailerFields.checkLength(section.count)
      _ = try forwardableRequestTrailers(fromClient.bytes(from: section.lowerBound, count: section.count))
    } catch {
      throw .request(error)
    }
  }

  /// Makes room to receive more of the body. Returns false if the body fills the request buffer, or if the process has no
  /// memory for a larger block.
  private func makeRoom(_ limit: Int, for body: BodyFraming) -> Bool {
    guard fromClient.count < limit, buffers.ensureBlock(in: fromClient) else { return false }
    if fromClient.receiveRoom > 0 { return true }
    fromClient.compact()
    if fromClient.receiveRoom > 0 { return true }
    let size = if case .length(let count) = body { min(count, limit) } else { limit }
    return size > fromClient.count && buffers.enlarge(fromClient, toReceive: size)
  }

  /// Returns a block that was made for a large request buffer. Normal blocks stay for the next request.
  func releaseLargeBlock() {
    if fromClient.blockSize > Buffer.capacity, fromClient.isEmpty { buffers.giveBack(fromClient) }
  }

  /// Waits for more of the body and receives it. The limits on time are those of a request that is being sent. During
  /// the wait the request holds only the received bytes and its rewritten head.
  private func receiveBody() async throws(Failure) {
    _ = state.step(.upload(.waiting(.client)))
    let event: ExchangeState.Event
    if clientConnection.socket.satisfies(.readable) {
      await clientConnection.yieldInLongTurn()
      event = .woke
    } else {
      buffers.giveBack(toClient)
      buffers.shrink(toUpstream)
      guard let wait = clientConnection.beginBodyWait(holding: toUpstream) else {
        throw .tooManyRequests
      }
      event = await waitForClient()
      guard clientConnection.endBodyWait(wait), buffers.restore(toUpstream), buffers.restore(toClient) else {
        throw .upstream(.outOfMemory(afterSending: false))
      }
    }
    let action = state.step(event)
    if case .fail(let failure) = action { throw .state(failure) }
    state = ExchangeState(state.request)
    guard clientConnection.socket.satisfies(.readable) else { return }
    switch clientConnection.receive() {
    case .moved(let count): uploaded += count
    case .wouldBlock: break
    case .ended, .failed: throw .state(.clientGone)
    }
  }
}

/// The part of a body that is in the receive buffer.
private struct ArrivedBody {
  private var decoder: BodyDecoder
  /// The number of bytes at the front of the buffer that the decoder has read.
  private var position = 0
  /// The number of bytes of data, without the framing.
  private(set) var count = 0
  /// The offset of the trailer section in the buffer; `nil` if none has arrived that is not empty.
  private var trailerStart: Int?
  /// The range of the trailer section of a complete body, with the empty line at its end.
  var trailers: Range<Int>? { trailerStart.map { $0..<position } }

  init(_ framing: BodyFraming) {
    decoder = BodyDecoder(framing)
  }

  var isComplete: Bool { decoder.isFinished }

  /// Reads the bytes that have arrived since the last call. `bytes` is the whole content of the buffer.
  mutating func read(_ bytes: Span<UInt8>) throws(MessageError) {
    while position < bytes.count, !decoder.isFinished {
      if decoder.isInTrailers, trailerStart == nil, decoder.isTrailerByte(bytes[position]) { trailerStart = position }
      let piece = try decoder.decode(bytes.extracting(position..<bytes.count))
      guard piece.consumed > 0 else { return }
      position += piece.consumed
      count += piece.data.count
    }
  }
}
