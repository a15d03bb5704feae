import HTTP1
import Reactor

/// The bytes on their way up and down.
extension Exchange {
  // MARK: Up

  /// Moves what can be moved towards the upstream.
  func stepUpload(_ upstream: UpstreamConnection) throws(Failure) -> ExchangeState.Event {
    while true {
      if !fromClient.isEmpty, upload.direct == 0, !upload.isDecoded { try encodeUpload() }
      if upload.isDecoded { server.state.receivedBody() }
      if !toUpstream.isEmpty || upload.direct > 0 {
        switch sendUp(upstream) {
        case .moved: continue
        case .wouldBlock: return .upload(.waiting(.upstream))
        case .ended, .failed:
          dropRequest()
          return .upstreamRefused
        }
      }
      if upload.isEncoded { return .upload(.done) }
      guard server.socket.satisfies(.readable) else { return .upload(.waiting(.client)) }
      switch server.receive() {
      case .moved(let count):
        uploaded += count
        state.count(count)
        if state.hasUsedShare { return .upload(.paused) }
      case .wouldBlock: return .upload(.waiting(.client))
      case .ended: return .clientEnded
      case .failed: return .clientGone
      }
    }
  }

  private func encodeUpload() throws(Failure) {
    do throws(MessageError) {
      if held.keepsBody {
        try advanceAndHold()
      } else {
        try upload.advance(from: fromClient, to: toUpstream)
      }
    } catch {
      throw .request(error)
    }
  }

  private func sendUp(_ upstream: UpstreamConnection) -> Transfer {
    let direct = upload.direct
    guard direct > 0 else { return upstream.socket.send(toUpstream) }
    let before = toUpstream.count
    let result =
      toUpstream.isEmpty
      ? upstream.socket.send(fromClient, upTo: direct)
      : upstream.socket.send(toUpstream, then: fromClient, upTo: direct)
    if case .moved(let count) = result { upload.sentDirect(max(0, count - before)) }
    return result
  }

  /// Drops the rest of the request, which goes no further.
  func dropRequest() {
    dropUnsentBody()
    toUpstream.clear()
  }

  /// Takes what is left of the body out of the receive buffer: its end was counted as received when it was seen there, and
  /// the next head is read from the buffer's front.
  func dropUnsentBody() {
    guard upload.direct > 0 else { return }
    fromClient.consume(upload.direct)
    upload.sentDirect(upload.direct)
  }

  // MARK: Down

  /// Moves what can be moved towards the client.
  func stepDownload(_ upstream: UpstreamConnection, _ head: RequestHead) throws(Failure) -> ExchangeState.Event {
    while true {
      if !state.hasResponse {
        if let event = try beginResponse(upstream, head) { return event }
      } else {
        if !upstream.input.isEmpty, download.direct == 0 { try encodeDownload(upstream) }
        if !toClient.isEmpty || download.direct > 0 {
          switch sendDown(upstream) {
          case .moved: continue
          case .wouldBlock: return .download(.waiting(.client))
          case .ended, .failed: return .clientGone
          }
        }
        if download.isEncoded { return .download(.done) }
      }
      guard upstream.socket.satisfies(.readable) else { return .download(.waiting(.upstream)) }
      if state.hasUsedShare { return .download(.paused) }
      switch receiveDown(upstream) {
      case .moved(let count): state.count(count)
      case .wouldBlock: state.count(0)
      case .ended where state.hasResponse && download.close(toClient): break
      case .ended, .failed: return .upstreamReset(hasInput: !upstream.input.isEmpty)
      }
    }
  }

  private func encodeDownload(_ upstream: UpstreamConnection) throws(Failure) {
    do throws(MessageError) {
      try download.advance(from: upstream.input, to: toClient)
    } catch {
      throw .upstream(.malformed(error.description))
    }
  }

  private func receiveDown(_ upstream: UpstreamConnection) -> Transfer {
    if case .responding = state.phase { upstream.receiveBody() } else { upstream.receive() }
  }

  private func sendDown(_ upstream: UpstreamConnection) -> Transfer {
    let direct = download.direct
    // The kernel may hold back what more follows; it is pushed before the next wait.
    let more = upstream.socket.readiness.contains(.readable) && !download.isDecoded
    guard direct > 0 else { return server.socket.send(toClient, upTo: toClient.count, more: more) }
    let before = toClient.count
    let result =
      toClient.isEmpty
      ? server.socket.send(upstream.input, upTo: direct, more: more)
      : server.socket.send(toClient, then: upstream.input, upTo: direct, more: more)
    if case .moved(let count) = result { download.sentDirect(max(0, count - before)) }
    return result
  }

  // MARK: Framing of a chunked request

  /// The part of a chunked body that has arrived.
  private enum Arrived {
    /// The body is whole; its length in bytes.
    case whole(Int)
    /// Bytes of it, or a mistake, which the pump reports.
    case part
    case nothing
  }

  /// Returns the framing of a chunked body for the upstream: its length if the body is whole by now, since many servers of
  /// HTTP/1.0's time take no chunks, else chunks.
  ///
  /// Where the method gives content no meaning, waits until the body has a byte or ends: an HTTP/2 request whose empty body
  /// ends in a frame of its own is one without a body.
  func settledFraming(_ head: RequestHead) async throws(Failure) -> BodyFraming {
    let deadline = poller.deadline(after: worker.settings.configuration.bodyTimeout)
    while true {
      switch arrived() {
      case .whole(let count): return count > 0 ? .length(count) : .none
      case .part: return .chunked
      case .nothing:
        if head.method.definesContent || head.expectsContinue { return .chunked }
      }
      if await server.waiter.wait(server.socket, .readable, until: deadline) == .timedOut {
        throw .state(.clientTimeout)
      }
      switch server.receive() {
      case .moved(let count): uploaded += count
      case .wouldBlock: continue
      case .ended, .failed: throw .state(.clientGone)
      }
    }
  }

  private func arrived() -> Arrived {
    fromClient.withSpan { bytes in
      var decoder = BodyDecoder(.chunked)
      var (position, count) = (0, 0)
      while position < bytes.count, !decoder.isFinished {
        let rest = bytes.extracting(position..<bytes.count)
        guard let piece = try? decoder.decode(rest) else { return .part }
        position += piece.consumed
        count += piece.data.count
      }
      if decoder.isFinished { return .whole(count) }
      return count > 0 ? .part : .nothing
    }
  }
}
