import CLinux

/// Accepts connections of one listener on one worker.
final class Acceptor: Activity {
  /// A turn accepts at most this many, so that a flood of connections cannot starve the ones that stand.
  private static let perTurn = 64

  private let listener: ListeningSocket
  private let socket: Socket
  private let worker: Worker
  private let poller: Poller
  private let group: WorkerGroup
  private let accepted: (Socket, Address) -> Void
  private let paused: (Bool) -> Void
  private var isPaused = false
  private let waiter: Waiter
  private let reserve: Int

  init(
    _ listener: ListeningSocket, worker: Worker, poller: Poller, group: WorkerGroup, reserve: Int,
    paused: @escaping (Bool) -> Void, accepted: @escaping (Socket, Address) -> Void
  ) throws(IOError) {
    self.listener = listener
    self.worker = worker
    self.poller = poller
    self.group = group
    self.reserve = reserve
    self.paused = paused
    self.accepted = accepted
    socket = try poller.register(listener.descriptor)
    waiter = Waiter(poller)
  }

  func run() async {
    while socket.isOpen {
      _ = await waiter.wait(socket, .readable, until: .never)
      guard socket.isOpen else { break }
      let outcome = acceptQueued(atMost: Acceptor.perTurn)
      note(outcome)
      switch outcome {
      case .drained:
        socket.readiness.remove(.readable)
      case .more:
        await waiter.yield()
      case .exhausted:
        // The listener stays marked ready: the queue is not empty and no further edge would come.
        _ = await waiter.sleep(until: poller.deadline(after: 100))
      }
    }
    note(.drained)
    waiter.retire()
  }

  /// Tells when a pause begins and when it ends, not of every try in between.
  private func note(_ outcome: Outcome) {
    guard (outcome == .exhausted) != isPaused else { return }
    isPaused.toggle()
    paused(isPaused)
  }

  private enum Outcome {
    case drained
    case more
    case exhausted
  }

  private func acceptQueued(atMost limit: Int) -> Outcome {
    for _ in 0..<limit {
      if Descriptors.isNearlyExhausted(reserve: reserve) { return .exhausted }
      var peer = cl_address()
      let result = unsafe cl_accept(socket.descriptor, &peer)
      if result < 0 {
        let error = IOError(code: -result)
        if error == .wouldBlock { return .drained }
        if Acceptor.isOfConnection(error) { continue }
        // Descriptors or memory: trying again at once would only spin.
        return .exhausted
      }
      let target = group.target(from: worker)
      if target === worker {
        adopt(result, Address(peer))
      } else {
        let address = Address(peer)
        let id = listener.id
        Task.immediate { await target.adopt(result, address, for: id) }
      }
    }
    return .more
  }

  /// True for an error of the connection that was taken from the queue, not of the listener. Linux passes on pending errors
  /// of the network (accept(2)), and a firewall may forbid one connection: the next one may be fine.
  static func isOfConnection(_ error: IOError) -> Bool {
    switch error {
    case .interrupted, .aborted, .violated, .notPermitted, .networkDown, .noProtocolOption, .hostDown, .noNetwork,
      .hostUnreachable, .notSupported, .networkUnreachable, .timedOut:
      true
    default: false
    }
  }

  func adopt(_ descriptor: Int32, _ peer: Address) {
    guard let socket = try? poller.register(descriptor, counter: worker.connections) else { return }
    accepted(socket, peer)
  }

  /// Accepts what is queued, so that no client that the kernel has greeted is lost, and closes.
  func close() {
    guard socket.isOpen else { return }
    while case .more = acceptQueued(atMost: Acceptor.perTurn) {}
    socket.close()
    waiter.resume(.ready)
  }
}
