import CLinux
import Time

/// Accepts the connections that arrive at one listening socket of a worker. Passes a connection to another worker if
/// that worker has clearly fewer connections (`WorkerGroup.target`).
final class Acceptor: Activity {
  /// The maximum number of connections accepted per turn, so that a flood of new connections cannot starve the
  /// existing ones.
  private static let connectionsPerTurn = 64

  let listener: ListeningSocket
  private let socket: Socket
  private let worker: Worker
  private let poller: Poller
  private let group: WorkerGroup
  /// Called for each connection that this worker serves.
  private let onAccept: (Socket, Address) -> Void
  /// Called with true when accepting pauses, and with false when it continues.
  private let onPauseChange: (Bool) -> Void
  private var isPaused = false
  private let waiter: Waiter
  /// The number of descriptors that client connections may not use.
  private let reserve: Int

  init(
    _ listener: ListeningSocket, worker: Worker, poller: Poller, group: WorkerGroup, reserve: Int,
    onPauseChange: @escaping (Bool) -> Void, onAccept: @escaping (Socket, Address) -> Void
  ) throws(IOError) {
    self.listener = listener
    self.worker = worker
    self.poller = poller
    self.group = group
    self.reserve = reserve
    self.onPauseChange = onPauseChange
    self.onAccept = onAccept
    socket = try poller.register(listener.descriptor, isListener: true)
    waiter = Waiter(poller)
  }

  func run() async {
    while socket.isOpen {
      _ = await waiter.wait(socket, .readable, until: .never)
      guard socket.isOpen else { break }
      var outcome = acceptQueued(atMost: Acceptor.connectionsPerTurn)
      // Another process that has the socket has shut it down. A wait for such a socket would return at once.
      let isShutDown = outcome == .queueIsEmpty && socket.readiness.contains(.broken)
      if isShutDown { outcome = .exhausted }
      reportPause(outcome)
      switch outcome {
      case .queueIsEmpty:
        socket.readiness.remove(.readable)
      case .more:
        await waiter.yield()
      case .exhausted:
        // The socket stays marked readable: connections are still queued, so epoll would report no further event
        // (edge-triggered). The next attempt follows after 100 ms. A socket that was shut down gets no connection any more.
        _ = await waiter.sleep(until: isShutDown ? .never : poller.deadline(after: 100))
      }
    }
    // Report the end of a pause that lasted until the close.
    reportPause(.queueIsEmpty)
    waiter.cancelDeadline()
  }

  /// Calls `onPauseChange` when a pause starts or ends, not for each attempt in between. A pause lasts as long as the
  /// process is out of descriptors or memory, or for ever if the socket was shut down.
  private func reportPause(_ outcome: Outcome) {
    guard (outcome == .exhausted) != isPaused else { return }
    isPaused.toggle()
    onPauseChange(isPaused)
  }

  private enum Outcome {
    /// No connection is queued any more.
    case queueIsEmpty
    /// The maximum number of connections was accepted; more may be queued.
    case more
    /// The process is out of descriptors or memory, or the socket no longer listens.
    case exhausted
  }

  private func acceptQueued(atMost limit: Int) -> Outcome {
    // Each connection needs objects whose allocation, unlike that of a buffer, ends the process if there is no memory.
    if poller.buffers.isShort, !poller.buffers.endShortage() { return .exhausted }
    for _ in 0..<limit {
      if Descriptors.isNearlyExhausted(reserve: reserve) { return .exhausted }
      var peer = cl_address()
      let result = unsafe cl_accept(socket.descriptor, &peer)
      if result < 0 {
        let error = IOError(code: -result)
        if error == .wouldBlock { return .queueIsEmpty }
        if Acceptor.isConnectionError(error) { continue }
        // The process is out of descriptors or memory: an immediate retry would only spin.
        return .exhausted
      }
      let target = group.target(from: worker)
      if target === worker {
        adopt(result, listener.peer ?? Address(peer))
      } else {
        let address = listener.peer ?? Address(peer)
        let id = listener.id
        Task.immediate { await target.adopt(result, address, for: id) }
      }
    }
    return .more
  }

  /// True if the error concerns only the connection at the front of the queue, so that the next call may succeed.
  /// accept(2) on Linux returns pending network errors of the new connection, and a firewall may forbid one connection.
  static func isConnectionError(_ error: IOError) -> Bool {
    switch error {
    case .interrupted, .aborted, .protocolViolation, .notPermitted, .networkDown, .noProtocolOption, .hostDown,
      .noNetwork, .hostUnreachable, .notSupported, .networkUnreachable, .timedOut:
      true
    default: false
    }
  }

  /// Registers an accepted connection with this worker and passes it to `onAccept`. Closes the descriptor if it cannot
  /// be registered.
  func adopt(_ descriptor: Int32, _ peer: Address) {
    guard let socket = try? poller.register(descriptor, counter: worker.connections) else { return }
    onAccept(socket, peer)
  }

  /// Accepts the queued connections as far as descriptors suffice, and closes the listening socket. The kernel has
  /// already completed the TCP handshakes of these connections, so their clients may already have sent requests.
  func close() {
    guard socket.isOpen else { return }
    poller.stopListening(socket)
    while case .more = acceptQueued(atMost: Acceptor.connectionsPerTurn) {}
    socket.close()
    waiter.resume(.ready)
  }

  /// Closes this descriptor of the listening socket and leaves the queued connections to the process that has the
  /// socket next.
  func leave() {
    guard socket.isOpen else { return }
    poller.stopListening(socket)
    socket.close()
    waiter.resume(.ready)
  }
}
