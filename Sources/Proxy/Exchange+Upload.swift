import HTTP1
import Reactor

/// The request, on its way up.
extension Exchange {
  /// Moves what can be moved towards the upstream.
  func stepUpload(_ upstream: UpstreamConnection) throws(Failure) {
    while true {
      if !fromClient.isEmpty, upload.direct == 0, !upload.isDecoded {
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
        moved += max(count, Exchange.turnCost)
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
        ? upstream.socket.send(fromClient, upTo: direct)
        : upstream.socket.send(toUpstream, then: fromClient, upTo: direct)
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
  func stopUpload() {
    uploadEnded = true
    uploadStopped = true
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
}
