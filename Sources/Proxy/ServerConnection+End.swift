import HTTP1
import Reactor

/// How an exchange and the connection end, and how an idle connection parks.
extension ServerConnection {
  /// Ends the connection as the state says.
  func finish() async {
    switch state.next {
    case .readHead, .close: close()
    case .reset:
      releaseAll()
      socket.reset()
    case .drainAndClose:
      await linger()
      close()
    }
  }

  /// Reads a bounded part of what the client still sends: closing at once would send a reset, which can overtake the
  /// answer (RFC 9112, section 9.6).
  private func linger() async {
    socket.shutdownWrite()
    let deadline = poller.deadline(after: settings.configuration.lingerTimeout)
    var left = settings.configuration.lingerBytes
    input.clear()
    while left > 0 {
      switch receive() {
      case .moved(let count):
        left -= count
        input.clear()
      case .wouldBlock:
        if await waiter.wait(socket, .readable, until: deadline) != .ready { return }
      case .ended, .failed: return
      }
    }
  }

  func currentExchange() -> Exchange {
    if let exchange { return exchange }
    let made = Exchange(self)
    exchange = made
    return made
  }

  private func releaseAll() {
    exchange?.release()
    input.clear()
    releaseInput()
    if isStream {
      stream = nil
      // The rest is used again for the next stream.
      if isRefused { worker.endRefusal() }
      isRefused = false
    } else {
      exchange = nil
      waiter.retire()
    }
  }

  func close() {
    releaseAll()
    socket.close()
  }

  func park() {
    waiter.retire()
    exchange?.release()
    exchange = nil
    releaseInput()
    isParked = true
    // The socket holds it.
    _ = ParkedConnection(
      socket, worker, neighbour: neighbour, told: told, admission, state, idleDeadline: idleDeadline)
  }
}
