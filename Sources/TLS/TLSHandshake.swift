public import Reactor

extension TLSServer {
  /// Performs the server's side of a handshake. Afterwards all bytes of the socket pass through TLS.
  ///
  /// Throws `TLSFailure`. The caller must then close the socket, which has no TLS layer.
  public func accept(
    _ socket: Socket, with waiter: Waiter, gate: HandshakeGate, until deadline: Deadline
  ) async throws(TLSFailure) -> TLSLayer {
    // The TLS layer is created when the client sends its first bytes, so a client that sends none takes no memory for
    // it.
    if await waiter.wait(socket, .readable, until: deadline) == .timedOut { throw .timedOut }
    let layer = try TLSLayer(self, socket)
    try await layer.establish(on: socket, with: waiter, gate: gate, until: deadline)
    return layer
  }
}

extension TLSClient {
  /// Performs the client's side of a handshake on an established connection. Afterwards all bytes of the socket pass
  /// through TLS.
  ///
  /// Throws `TLSFailure`. The caller must then close the socket, which has no TLS layer.
  ///
  /// - Parameter other: The socket of the client for whose request the connection is opened. The handshake stops if the
  ///   connection of that client breaks.
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
      // While the handshake waited in the queue, the worker may have stopped, or the deadline may have passed.
      if socket.isAborted || !socket.isOpen { throw .closed }
      switch try handshake(socket) {
      case .done:
        socket.adopt(self)
        return
      case .wants(let readiness):
        if try await waitForReadiness(socket, readiness, waiter, deadline, other) == .timedOut { throw .timedOut }
      }
    }
  }

  private func waitForReadiness(
    _ socket: Socket, _ readiness: Readiness, _ waiter: Waiter, _ deadline: Deadline, _ other: Socket?
  ) async throws(TLSFailure) -> Wake {
    guard let other else { return await waiter.wait(socket, readiness, until: deadline) }
    let wake = await waiter.wait(socket, readiness, other, .broken, until: deadline)
    if other.readiness.contains(.broken) { throw .abandoned }
    return wake
  }
}
