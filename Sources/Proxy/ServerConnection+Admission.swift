import HTTP1
import Reactor
import Telemetry

/// The steps before the first request: the identity of the client, and the limits on connections.
extension ServerConnection {
  enum Entry {
    case admitted
    case refused(ProxyFailure)
    /// Closed without a word.
    case closed
  }

  func enter() async -> Entry {
    let limits = settings.configuration.limits
    if speaksProxyProtocol, !(await readProxyHeader()) {
      worker.metrics.limited(.proxyProtocol)
      return .closed
    }
    guard admission.isWithinTotal else { return refusal(.overloaded(.connections)) }
    // A proxy speaks for many; who is on this machine is no stranger.
    let isCounted = !settings.configuration.trusts(peer) && !peer.isLoopback
    guard !isCounted || admission.count(peer, limit: limits.connectionsPerAddress) else {
      return refusal(.overloaded(.connectionsPerAddress))
    }
    return await secure()
  }

  /// A bounded number of refused clients gets the reason; a flood is not worth the buffers.
  func refusal(_ failure: ProxyFailure) -> Entry {
    // Before its handshake a client would not understand a word, and what is refused is not worth a handshake.
    guard !awaitsHandshake, worker.beginRefusal() else {
      if case .overloaded(let limit) = failure { worker.metrics.limited(limit) }
      return .closed
    }
    isRefused = true
    return .refused(failure)
  }

  /// True if there is memory for a connection that holds none yet to begin a request.
  var hasMemory: Bool {
    worker.memoryWatch.look()
    if poller.buffers.hasRoom(for: ServerConnection.requestMemory) { return true }
    poller.parkIdle()
    return false
  }

  /// Two buffers in each direction.
  private static let requestMemory = 4 * Buffer.capacity

  // MARK: PROXY protocol

  /// Reads the header and believes it; false when this peer must not send one, or does not send a proper one in time.
  private func readProxyHeader() async -> Bool {
    guard settings.configuration.trusts(peer) else { return false }
    let deadline = poller.deadline(after: settings.configuration.headTimeout)
    let buffer = poller.buffers.take()
    defer { poller.buffers.giveBack(buffer) }
    while true {
      guard await waiter.wait(socket, .readable, until: deadline) == .ready else { return false }
      // Looked at first, and then taken to its last byte: what follows may be another protocol's.
      buffer.clear()
      switch socket.peek(into: buffer) {
      case .wouldBlock: continue
      case .ended, .failed: return false
      case .moved: break
      }
      switch buffer.withSpan({ ProxyHeader.parse($0) }) {
      case .malformed: return false
      case .incomplete:
        if !socket.readiness.isDisjoint(with: [.readClosed, .broken]) { return false }
      case .complete(let length, let client):
        buffer.clear()
        guard socket.receive(into: buffer, upTo: length) == .moved(length) else { return false }
        if let client { believe(client) }
        return true
      }
    }
  }
}
