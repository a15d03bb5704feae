import HTTP1
import Reactor

/// The response, on its way down.
extension Exchange {
  /// Moves what can be moved towards the client; true when the response is complete.
  func stepDownload(_ upstream: UpstreamConnection, _ head: RequestHead) throws(Failure) -> Bool {
    while true {
      if download == nil { try readResponseHead(upstream, head) }
      if !upstream.input.isEmpty, download?.direct == 0 {
        do throws(MessageError) {
          try download?.advance(from: upstream.input, to: toClient)
        } catch {
          throw .upstream(.malformed(error.description))
        }
      }
      if !toClient.isEmpty || (download?.direct ?? 0) > 0 {
        guard try sendToClient(upstream) else { return false }
        continue
      }
      if download?.isEncoded ?? false { return true }
      guard upstream.socket.satisfies(.readable) else { return false }
      if moved >= Exchange.yieldAfter { return false }
      try receive(upstream)
    }
  }

  private func receive(_ upstream: UpstreamConnection) throws(Failure) {
    switch download == nil || isTunnel ? upstream.receive() : upstream.receiveBody() {
    case .moved(let count): moved += max(count, Exchange.turnCost)
    case .wouldBlock: moved += Exchange.turnCost
    case .ended:
      guard download?.close(toClient) ?? false else { throw .upstream(.reset) }
    case .failed: throw .upstream(.reset)
    }
  }

  private func sendToClient(_ upstream: UpstreamConnection) throws(Failure) -> Bool {
    let direct = download?.direct ?? 0
    let before = toClient.count
    // What the kernel holds back is pushed before the next wait.
    let more = upstream.socket.readiness.contains(.readable) && download?.isDecoded == false
    let result: Transfer
    if direct > 0 {
      result =
        toClient.isEmpty
        ? server.socket.send(upstream.input, upTo: direct, more: more)
        : server.socket.send(toClient, then: upstream.input, upTo: direct, more: more)
    } else {
      result = server.socket.send(toClient, upTo: toClient.count, more: more)
    }
    switch result {
    case .moved(let count):
      if direct > 0 { download?.sentDirect(max(0, count - before)) }
      return true
    case .wouldBlock: return false
    case .ended, .failed: throw .client
    }
  }
}
