internal import COpenSSL
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
  /// - Parameter client: The socket of the client for whose request the connection is opened. The handshake stops if
  ///   the connection of that client breaks.
  @discardableResult
  public func connect(
    _ socket: Socket, with waiter: Waiter, gate: HandshakeGate, until deadline: Deadline,
    abandonedBy client: Socket? = nil
  ) async throws(TLSFailure) -> TLSLayer {
    let layer = try TLSLayer(self, socket)
    try await layer.establish(on: socket, with: waiter, gate: gate, until: deadline, abandonedBy: client)
    return layer
  }
}

extension TLSLayer {
  fileprivate func establish(
    on socket: Socket, with waiter: Waiter, gate: HandshakeGate, until deadline: Deadline,
    abandonedBy client: Socket? = nil
  ) async throws(TLSFailure) {
    while true {
      await gate.waitForStep(waiter)
      // While the handshake waited in the queue, the worker may have stopped, or the socket may have been closed. A
      // deadline that has passed meanwhile ends the next wait for the socket.
      if socket.isAborted || !socket.isOpen { throw .closed }
      switch try handshake(socket) {
      case .done:
        socket.adopt(self)
        return
      case .waitsFor(let readiness):
        if try await waitForReadiness(socket, readiness, waiter, deadline, client) == .timedOut { throw .timedOut }
      }
    }
  }

  private func waitForReadiness(
    _ socket: Socket, _ readiness: Readiness, _ waiter: Waiter, _ deadline: Deadline, _ client: Socket?
  ) async throws(TLSFailure) -> Wake {
    guard let client else { return await waiter.wait(socket, readiness, until: deadline) }
    let wake = await waiter.wait(socket, readiness, client, .broken, until: deadline)
    if client.readiness.contains(.broken) { throw .clientDisconnected }
    return wake
  }

  /// The result of one step of a handshake.
  enum Step {
    case done
    /// The next step is possible when the socket has this readiness.
    case waitsFor(Readiness)
  }

  /// Continues the handshake as far as the socket permits. Throws `TLSFailure`.
  func handshake(_ socket: Socket) throws(TLSFailure) -> Step {
    TLSLibrary.clearErrors()
    let result = unsafe SSL_do_handshake(connection)
    if result == 1 {
      isEstablished = true
      return .done
    }
    switch unsafe SSL_get_error(connection, result) {
    case SSL_ERROR_WANT_READ:
      socket.readiness.subtract([.readable, .readClosed])
      return .waitsFor(.readable)
    case SSL_ERROR_WANT_WRITE:
      socket.readiness.remove(.writable)
      return .waitsFor(.writable)
    default:
      isBroken = true
      throw failure()
    }
  }

  /// Returns the reason why a handshake failed, from OpenSSL's error queue.
  private func failure() -> TLSFailure {
    let verification = unsafe SSL_get_verify_result(connection)
    let code = ERR_peek_last_error()
    let reason = ERR_GET_REASON(code)
    defer { ERR_clear_error() }
    if code == 0 || reason == SSL_R_UNEXPECTED_EOF_WHILE_READING { return .closed }
    if reason == SSL_R_HTTP_REQUEST { return .plainHTTP }
    if reason == SSL_R_CERTIFICATE_VERIFY_FAILED, let text = unsafe X509_verify_cert_error_string(verification) {
      return unsafe .untrusted(String(cString: text))
    }
    return .refused(TLSLibrary.lastReason())
  }

  /// True if the handshake resumed a session, without certificates and private key operations.
  public var isResumed: Bool { unsafe SSL_session_reused(connection) == 1 }

  /// The negotiated version: `TLSv1.2` or `TLSv1.3`.
  public var version: String { unsafe String(cString: SSL_get_version(connection)) }

  /// The protocol that both sides chose by ALPN (RFC 7301); `nil` without a choice.
  public var applicationProtocol: String? {
    var start: UnsafePointer<UInt8>?
    var count: UInt32 = 0
    unsafe SSL_get0_alpn_selected(connection, &start, &count)
    guard let start = unsafe start, count > 0 else { return nil }
    // Sound: the pointer is valid as long as the connection exists.
    return unsafe String(decoding: UnsafeBufferPointer(start: start, count: Int(count)), as: UTF8.self)
  }
}
