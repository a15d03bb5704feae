import HTTP1
import HTTP2
import Reactor
import TLS
import Telemetry

/// The steps before the first request: the client's identity, the connection limits and the TLS handshake.
extension ServerConnection {
  enum AdmissionOutcome {
    case admitted
    /// The client gets an error response, and then the connection is closed.
    case refused(ProxyFailure)
    /// The connection is closed without a response.
    case closed
  }

  /// Performs the steps before the first request. Returns how the connection continues.
  func admit(speaksProxyProtocol: Bool) async -> AdmissionOutcome {
    let limits = settings.configuration.limits
    if speaksProxyProtocol, !(await readProxyHeader()) {
      worker.metrics.recordLimit(.proxyProtocol)
      return .closed
    }
    guard admission.isWithinTotal else { return chooseRefusal(for: .overloaded(.connections)) }
    // `count` returns false if the address already has the maximum number of connections.
    guard !isLimitedByAddress || admission.countConnection(for: peer, limit: limits.connectionsPerAddress) else {
      return chooseRefusal(for: .overloaded(.connectionsPerAddress))
    }
    return await secure()
  }

  /// True if the limits per address apply to the client. A trusted proxy connects for many clients, and a loopback peer
  /// is a local process: neither is limited.
  private var isLimitedByAddress: Bool { !settings.configuration.trusts(peer) && !peer.isLoopback }

  /// The client address for the limits per address (`ConnectionLimits.key`); `nil` if they do not apply.
  var limitedAddress: UInt64? {
    switch addressLimit {
    case .unknown:
      let address = isLimitedByAddress ? ConnectionLimits.key(peer) : nil
      addressLimit = address.map { AddressLimit.limited($0) } ?? .unlimited
      return address
    case .limited(let address): return address
    case .unlimited: return nil
    }
  }

  /// Decides how to refuse the connection: with an error response (`refused`), or by closing it (`closed`). Only a
  /// limited number of refused clients gets a response, so that a flood of connections does not use up the buffers.
  func chooseRefusal(for failure: ProxyFailure) -> AdmissionOutcome {
    // Before the TLS handshake the client cannot read a response, and a handshake costs too much for a refusal.
    if !awaitsHandshake, let permit = worker.beginRefusal() {
      refusalPermit = permit
      return .refused(failure)
    }
    if case .overloaded(let limit) = failure { worker.metrics.recordLimit(limit) }
    return .closed
  }

  /// True if there is enough memory for an idle connection to begin a request. Otherwise parks all idle connections.
  var hasMemory: Bool {
    worker.checkMemory()
    if buffers.hasRoom(for: ServerConnection.requestMemory) { return true }
    poller.parkIdle()
    return false
  }

  /// The memory of a request: two buffers in each direction.
  private static let requestMemory = 4 * Buffer.capacity

  // MARK: PROXY protocol

  /// Reads the header of the PROXY protocol and adopts the client that it names. Returns false if this peer may not
  /// send a header, or does not send a valid header in time.
  private func readProxyHeader() async -> Bool {
    guard settings.configuration.trusts(peer) else { return false }
    let deadline = poller.deadline(after: settings.configuration.headerTimeout)
    guard let buffer = buffers.take() else { return false }
    defer { buffers.giveBack(buffer) }
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
        if let client { adoptProxiedClient(client) }
        return true
      }
    }
  }

  // MARK: TLS

  var awaitsHandshake: Bool { tls != nil && socket.layer == nil }

  /// Performs the TLS handshake if the listener uses TLS.
  func secure() async -> AdmissionOutcome {
    guard let tls else { return .admitted }
    do throws(TLSFailure) {
      let deadline = poller.deadline(after: tls.handshakeTimeout)
      let layer = try await tls.accept(socket, with: waiter, gate: worker.handshakes, until: deadline)
      layer.floodHandler = worker.keyUpdateFlood
      worker.metrics.handshakeFinished(layer.isResumed ? .resumed : .full)
      updateIdentity()
      return .admitted
    } catch {
      worker.metrics.handshakeFinished(.failed)
      guard error == .plainHTTP, let permit = worker.beginRefusal() else { return .closed }
      // The user may have typed the address without `https`. A browser would not explain a TLS alert.
      refusalPermit = permit
      return .refused(.request(MessageError(status: 400, "plain HTTP where TLS is spoken; use https")))
    }
  }

  // MARK: HTTP/2

  /// Decides from the first bytes, once there are enough, whether the client uses HTTP/2.
  func decideProtocol() {
    guard case .undecided = stage, let isPreface = input.withSpan({ HTTP2Preface.matches($0) }) else { return }
    stage = isPreface ? .http2 : .http1
  }

  /// Receives bytes that have already arrived, and returns true if the client has sent the preface of HTTP/2.
  func hasSentPreface() -> Bool {
    guard case .undecided = stage else { return false }
    if input.isEmpty, socket.satisfies(.readable) { _ = receive() }
    return input.withSpan { HTTP2Preface.matches($0) } ?? false
  }

  /// Sends a GOAWAY with ENHANCE_YOUR_CALM and closes the connection. Discards further input first: unread bytes would
  /// make the kernel send a reset, and the client could lose the GOAWAY.
  func refuseHTTP2() async {
    if let buffer = buffers.take() {
      buffer.append(HTTP2Refusal.bytes)
      // These few bytes are the first on the connection, so they fit into the kernel's send buffer.
      _ = socket.send(buffer)
      buffers.giveBack(buffer)
    }
    worker.metrics.requestFinished(.refused, status: 0, nanoseconds: 0)
    await linger()
    close()
  }
}
