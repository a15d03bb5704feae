import HTTP1
import Reactor

/// How an exchange and the connection end, and how an idle connection parks.
extension ServerConnection {
  /// Ends the connection as the state says.
  func finish() async {
    switch state.next {
    case .readHead: close()
    case .close:
      if mayLoseAnswer { await linger() }
      close()
    case .reset:
      releaseAll()
      socket.reset()
    case .drainAndClose:
      await linger()
      close()
    }
  }

  /// True if closing at once could cost the client the end of its answer: an unread byte of the request makes the kernel
  /// reset the connection, and what the client has not taken by then is lost (RFC 9112, section 9.6).
  private var mayLoseAnswer: Bool {
    guard !isStream, state.hasStartedResponse, !socket.readiness.contains(.broken) else { return false }
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
