public import Reactor

extension TLSServer {
  /// Takes a client's handshake; afterwards the socket's bytes go through TLS.
  ///
  /// Throws `TLSFailure`, and the socket is plain then: the caller closes it.
  public func accept(
    _ socket: Socket, with waiter: Waiter, gate: HandshakeGate, until deadline: Deadline
  ) async throws(TLSFailure) -> TLSLayer {
    // Nothing is made for a client that only connects.
    if await waiter.wait(socket, .readable, until: deadline) == .timedOut { throw .timedOut }
    let layer = try TLSLayer(self, socket)
    try await layer.establish(on: socket, with: waiter, gate: gate, until: deadline)
    return layer
  }
}

extension TLSClient {
  /// Begins a handshake with the server of an established connection; afterwards the socket's bytes go through TLS.
  ///
  /// Throws `TLSFailure`, and the socket is plain then: the caller closes it.
  ///
  /// - Parameter other: gives up when this one breaks: the socket of the client for which the connection is made.
  @discardableResult
  public func connect(
    _ socket: Socket, with waiter: Waiter, gate: HandshakeGate, until deadline: Deadline,
    abandonedBy other: Socket? = nil
  ) async throws(TLSFailure) -> TLSLayer {
    let layer = try TLSLayer(self, socket)
    try await layer.establish(on: socket, with: waiter, gate: gate, until: deadline, abandonedBy: other)
    return layer
  }
}

extension TLSLayer {
  fileprivate func establish(
    on socket: Socket, with waiter: Waiter, gate: HandshakeGate, until deadline: Deadline,
    abandonedBy other: Socket? = nil
  ) async throws(TLSFailure) {
    while true {
      await gate.pass(waiter)
      // The worker may have stopped, or time have run out, in the line.
      if socket.isAborted || !socket.isOpen { throw .closed }
      switch try handshake(socket) {
      case .done:
        socket.adopt(self)
        return
      case .wants(let readiness):
        if try await waits(socket, readiness, waiter, deadline, other) == .timedOut { throw .timedOut }
      }
    }
  }

  private func waits(
    _ socket: Socket, _ readiness: Readiness, _ waiter: Waiter, _ deadline: Deadline, _ other: Socket?
  ) async throws(TLSFailure) -> Wake {
    guard let other else { return await waiter.wait(socket, readiness, until: deadline) }
    let wake = await waiter.wait(socket, readiness, other, .broken, until: deadline)
    if other.readiness.contains(.broken) { throw .abandoned }
    return wake
  }
}
