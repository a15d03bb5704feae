import HTTP1
import Reactor

/// The end of a connection, such that the client gets all of its last answer.
extension ServerConnection {
  /// Ends the connection as the state says.
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

  /// True if closing at once could cost the client the end of its answer: an unread byte of the request makes the kernel
  /// reset the connection, and what the client has not taken by then is lost (RFC 9112, section 9.6).
  private var mayLoseAnswer: Bool {
    if case .streams = stage { return false }
    guard state.hasStartedResponse, !socket.readiness.contains(.broken) else { return false }
    let goesOn = exchange?.state.isTunnel ?? false || !input.isEmpty || socket.satisfies(.readable)
    return goesOn || socket.unacknowledged > 0
  }

  /// Says that nothing more comes, and drops what the client still sends, for as long as it takes what waits for it in the
  /// kernel.
  func linger() async {
    socket.shutdownWrite()
    let end = poller.deadline(after: settings.configuration.bodyTimeout)
    var taken = socket.acknowledged
    while await dropInput() {
      let acknowledged = socket.acknowledged
      guard socket.unacknowledged > 0, acknowledged > taken, !end.hasPassed(at: poller.now) else { return }
      taken = acknowledged
      await waiter.giveWay()
    }
  }

  /// Drops a bounded part of what the client sends. False when nothing more comes.
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
