import HTTP1
import HTTP2
import Reactor
import TLS
import Telemetry

/// The steps before the first request: the client's identity, the connection limits and the TLS handshake.
extension ServerConnection {
  enum Entry {
    case admitted
    case refused(ProxyFailure)
    /// Closed without a response.
    case closed
  }

  func enter(speaksProxyProtocol: Bool) async -> Entry {
    let limits = settings.configuration.limits
    if speaksProxyProtocol, !(await readProxyHeader()) {
      worker.metrics.recordLimit(.proxyProtocol)
      return .closed
    }
    guard admission.isWithinTotal else { return refusal(.overloaded(.connections)) }
    // A trusted proxy connects for many clients, and a loopback peer is a local process: neither is limited per
    // address.
    let isCounted = !settings.configuration.trusts(peer) && !peer.isLoopback
    guard !isCounted || admission.count(peer, limit: limits.connectionsPerAddress) else {
      return refusal(.overloaded(.connectionsPerAddress))
    }
    return await secure()
  }

  /// Refuses the connection. A limited number of refused clients gets the reason; a flood is not worth the buffers.
  func refusal(_ failure: ProxyFailure) -> Entry {
    // Before its handshake a client would not understand a word, and what is refused is not worth a handshake.
    if !awaitsHandshake, let place = worker.beginRefusal() {
      refusalPlace = place
      return .refused(failure)
    }
    if case .overloaded(let limit) = failure { worker.metrics.recordLimit(limit) }
    return .closed
  }

  /// True if there is enough memory for an idle connection to begin a request.
  var hasMemory: Bool {
    worker.memoryWatch.look()
    if poller.buffers.hasRoom(for: ServerConnection.requestMemory) { return true }
    poller.parkIdle()
    return false
  }

  /// The memory of a request: two buffers in each direction.
  private static let requestMemory = 4 * Buffer.capacity

  // MARK: PROXY protocol

  /// Reads the header and adopts its client. Returns false if this peer may not send one, or does not send a valid one
  /// in time.
  private func readProxyHeader() async -> Bool {
    guard settings.configuration.trusts(peer) else { return false }
    let deadline = poller.deadline(after: settings.configuration.headerTimeout)
    let buffer = poller.buffers.take()
    defer { poller.buffers.giveBack(buffer) }
    while true {
      guard await waiter.wait(socket, .readable, until: deadline) == .ready else { return false }
      // Peek first, then receive exactly the header: the bytes after it may belong to another protocol.
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

  // MARK: TLS

  var awaitsHandshake: Bool { tls != nil && socket.layer == nil }

  /// Takes the client's handshake, if the listener speaks TLS.
  func secure() async -> Entry {
    guard let tls else { return .admitted }
    do throws(TLSFailure) {
      let deadline = poller.deadline(after: tls.handshakeTimeout)
      let layer = try await tls.accept(socket, with: waiter, gate: worker.handshakes, until: deadline)
      layer.floodHandler = worker.keyUpdateFlood
      worker.metrics.handshakeFinished(layer.isResumed ? .resumed : .full)
      identify()
      return .admitted
    } catch {
      worker.metrics.handshakeFinished(.failed)
      guard error == .plainHTTP, let place = worker.beginRefusal() else { return .closed }
      // The user typed the address without `https`: a TLS alert would only show a broken page.
      refusalPlace = place
      return .refused(.request(MessageError(status: 400, "plain HTTP where TLS is spoken; use https")))
    }
  }

  // MARK: HTTP/2

  /// Decides by the first bytes which protocol the client speaks, once there are enough of them.
  func decideProtocol() {
    guard case .undecided = stage, let isPreface = input.withSpan({ HTTP2Preface.matches($0) }) else { return }
    stage = isPreface ? .http2 : .http1
  }

  /// Returns true if the client has sent the preface of HTTP/2, and receives for that what has come.
  func hasSentPreface() -> Bool {
    guard case .undecided = stage else { return false }
    if input.isEmpty, socket.satisfies(.readable) { _ = receive() }
    return input.withSpan { HTTP2Preface.matches($0) } ?? false
  }

  /// Says with a GOAWAY that the client is to come back later, and drops what it still sends: unread bytes would make the
  /// kernel answer with a reset, which takes the reason away.
  func refuseHTTP2() async {
    let buffer = poller.buffers.take()
    buffer.append(HTTP2Refusal.bytes)
    // Small and the first thing on the connection: it fits the socket's buffer.
    _ = socket.send(buffer)
    poller.buffers.giveBack(buffer)
    worker.metrics.requestFinished(.refused, status: 0, nanoseconds: 0)
    await linger()
    close()
  }
}
