import HTTP1
import Reactor

/// The end of an exchange and of the connection, and the parking of an idle connection.
extension ServerConnection {
  /// Ends the connection in the way that the state requires.
  func finish() async {
    switch state.next {
    case .readHead: close()
    case .close:
      if mayLoseAnswer { await linger() }
      close()
    case .reset:
      release()
      socket.reset()
    case .drainAndClose:
      await linger()
      close()
    }
  }

  /// True if closing immediately could cost the client the end of its response. An unread byte of the request makes
  /// the kernel reset the connection, and response bytes that the client has not received yet are lost (RFC 9112,
  /// section 9.6).
  private var mayLoseAnswer: Bool {
    if case .streams = stage { return false }
    guard state.hasStartedResponse, !socket.readiness.contains(.broken) else { return false }
    let goesOn = exchange?.state.isTunnel ?? false || !input.isEmpty || socket.satisfies(.readable)
    return goesOn || socket.unacknowledged > 0
  }

  /// Ends the sending side and discards further input, as long as the client continues to receive the bytes queued in
  /// the kernel.
  func linger() async {
    socket.shutdownWrite()
    let end = poller.deadline(after: settings.configuration.bodyTimeout)
    var taken = socket.acknowledged
    while await dropInput() {
      let acknowledged = socket.acknowledged
      guard socket.unacknowledged > 0, acknowledged > taken, !end.hasPassed(at: poller.now) else { return }
      taken = acknowledged
      await waiter.yieldShare()
    }
  }

  /// Discards a bounded part of the client's input. Returns false if no more follows.
  private func dropInput() async -> Bool {
    let deadline = poller.deadline(after: settings.configuration.lingerTimeout)
    var left = settings.configuration.lingerBytes
    while left > 0 {
      input.clear()
      switch receive() {
      case .moved(let count): left -= count
      case .wouldBlock:
        releaseInput()
        if await waiter.wait(socket, .readable, until: deadline) != .ready { return true }
      case .ended, .failed: return false
      }
    }
    return true
  }
}
