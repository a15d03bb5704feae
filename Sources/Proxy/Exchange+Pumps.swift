import HTTP1
import Reactor

/// The two directions of an exchange: upload (client to upstream) and download (upstream to client).
extension Exchange {
  // MARK: Upload

  /// Moves bytes from the client to the upstream until no more can move without a wait, or the exchange has used its
  /// share (`ExchangeState.share`). Returns the result as an event.
  func stepUpload(_ upstream: UpstreamConnection) throws(Failure) -> ExchangeState.Event {
    while true {
      if !fromClient.isEmpty, upload.directCount == 0, !upload.hasReadEnd { try encodeUpload() }
      if upload.hasReadEnd { clientConnection.state.receivedBody() }
      if !toUpstream.isEmpty || upload.directCount > 0 {
        switch sendToUpstream(upstream) {
        case .moved: continue
        case .wouldBlock: return .upload(.waiting(.upstream))
        case .ended, .failed:
          dropUnsentRequest()
          return .upstreamRefused
        }
      }
      if upload.isDrained {
        releaseLargeBlock()
        return .upload(.done)
      }
      if upload.awaitsTrailers, try forwardRequestTrailers() { continue }
      guard clientConnection.socket.satisfies(.readable) else { return .upload(.waiting(.client)) }
      switch clientConnection.receive() {
      case .moved(let count):
        uploaded += count
        state.chargeStep(bytes: count)
        if state.hasUsedShare { return .upload(.paused) }
      case .wouldBlock: return .upload(.waiting(.client))
      case .ended: return .clientEnded
      case .failed: return .clientGone
      }
    }
  }

  private func encodeUpload() throws(Failure) {
    do throws(MessageError) {
      if heldRequest.keepsBody {
        try advanceAndKeepCopy()
      } else {
        try upload.advance(from: fromClient, to: toUpstream)
      }
    } catch {
      throw .request(error)
    }
    if let route { try route.checkBody(upload.copiedCount) }
  }

  private func sendToUpstream(_ upstream: UpstreamConnection) -> Transfer {
    let direct = upload.directCount
    guard direct > 0 else { return upstream.socket.send(toUpstream) }
    let before = toUpstream.count
    let result =
      toUpstream.isEmpty
      ? upstream.socket.send(fromClient, upTo: direct)
      : upstream.socket.send(toUpstream, then: fromClient, upTo: direct)
    if case .moved(let count) = result { upload.sentDirect(max(0, count - before)) }
    return result
  }

  /// Drops the bytes of the request that were prepared for the upstream but not sent, because the upload has ended.
  func dropUnsentRequest() {
    dropUnsentBody()
    toUpstream.clear()
  }

  /// Removes the decoded but unsent bytes of the body from the receive buffer. The connection may already count the
  /// body as received, and then expects the next head at the front of the buffer.
  func dropUnsentBody() {
    guard upload.directCount > 0 else { return }
    fromClient.consume(upload.directCount)
    upload.sentDirect(upload.directCount)
  }

  // MARK: Download

  /// Moves bytes from the upstream to the client until no more can move without a wait, or the exchange has used its
  /// share. Returns the result as an event.
  func stepDownload(_ upstream: UpstreamConnection, _ head: RequestHead) throws(Failure) -> ExchangeState.Event {
    while true {
      if !state.hasResponse {
        if let event = try beginResponse(upstream, head) { return event }
      } else {
        if !upstream.input.isEmpty, download.directCount == 0 { try encodeDownload(upstream) }
        if !toClient.isEmpty || download.directCount > 0 {
          switch sendToClient(upstream) {
          case .moved(let count):
            sent &+= count
            continue
          case .wouldBlock:
            if !state.isTunnel, download.moveRest(from: upstream.input, to: toClient) { return .received }
            return .download(.waiting(.client))
          case .ended, .failed: return .clientGone
          }
        }
        if download.isDrained { return .download(.done) }
        if download.awaitsTrailers, try forwardResponseTrailers(upstream) { continue }
      }
      guard upstream.socket.satisfies(.readable) else { return .download(.waiting(.upstream)) }
      if state.hasUsedShare { return .download(.paused) }
      switch upstream.receive() {
      case .moved(let count): state.chargeStep(bytes: count)
      case .wouldBlock: state.chargeStep(bytes: 0)
      case .ended where state.hasResponse && download.endBody(into: toClient): break
      case .failed(.noMemory): throw .upstream(.outOfMemory(afterSending: true))
      case .ended, .failed:
        return .upstreamReset(hasInput: !upstream.input.isEmpty || reader.hasReadInterim)
      }
    }
  }

  /// Sends the rest of a response that was received completely, as far as possible without a wait. Returns the result
  /// as an event.
  func stepDelivery() -> ExchangeState.Event {
    while !toClient.isEmpty {
      switch clientConnection.socket.send(toClient) {
      case .moved(let count): sent &+= count
      case .wouldBlock: return .download(.waiting(.client))
      case .ended, .failed: return .clientGone
      }
    }
    return .download(.done)
  }

  private func encodeDownload(_ upstream: UpstreamConnection) throws(Failure) {
    do throws(MessageError) {
      try download.advance(from: upstream.input, to: toClient)
    } catch {
      throw .upstream(.malformed(error.description))
    }
  }

  private func sendToClient(_ upstream: UpstreamConnection) -> Transfer {
    let direct = download.directCount
    guard direct > 0 else { return clientConnection.socket.send(toClient) }
    let before = toClient.count
    let result =
      toClient.isEmpty
      ? clientConnection.socket.send(upstream.input, upTo: direct)
      : clientConnection.socket.send(toClient, then: upstream.input, upTo: direct)
    if case .moved(let count) = result { download.sentDirect(max(0, count - before)) }
    return result
  }
}
