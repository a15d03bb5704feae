import HTTP2
import Reactor
import Telemetry
import Time

/// Parking of a connection without streams, and its end.
extension HTTP2Connection: SocketObserver, TimerOwner {
  /// The time for the client to receive the first GOAWAY: longer than most round trips.
  private static let noticeTimeout: Milliseconds = 1_000

  /// Parks the connection. Returns false, without parking it, if there is work after all.
  func park() -> Bool {
    life = .active
    if socket.satisfies(.readable) || poller.isDraining || worker.drainsSoon { return false }
    releaseBuffers()
    waiter.cancelDeadline()
    life = .parked
    dismissSpares()
    let timer = self.timer ?? Timer()
    self.timer = timer
    poller.arm(timer, for: self, after: deadlines.idle.map { $0.remainingTime(at: poller.now) } ?? 0)
    return true
  }

  func unpark() {
    life = .active
    if let timer { poller.disarm(timer) }
    poller.start(self)
  }

  func socketIsReady(_ socket: Socket) {
    if life == .parked, socket.satisfies(.readable) { unpark() }
  }

  /// Wakes the task after a change for which the socket has no event.
  func wake() {
    if life == .parked { unpark() } else { waiter.resume(.ready) }
  }

  /// Wakes the task because a stream has data to send. The task continues after the other tasks of the next turn, so that
  /// it sends the data of several streams at once.
  func wakeToSend() {
    // A task that does not wait sends the data before its next wait.
    guard life == .parked || waiter.isWaiting, session?.wantsToSend ?? false else { return }
    if life == .parked { unpark() } else { waiter.resumeLast() }
  }

  func workerIsDraining() { wake() }

  func timerExpired() {
    guard life == .parked, let session else { return }
    metrics.recordLimit(.idleTimeout)
    session.shutDown()
    shutdown = .final
    unpark()
  }

  // MARK: The end

  /// Queues the first GOAWAY if the worker is about to stop or the connection has reached its maximum number of
  /// requests, and in a later turn the final one when it is due (`Shutdown`). Called in each turn of the connection's
  /// task.
  func announceEnd(_ session: HTTP2Session) {
    let isFull = requests >= configuration.limits.requestsPerConnection
    guard worker.drainsSoon || poller.isDraining || isFull else { return }
    var until = Deadline.never
    switch shutdown {
    case .none:
      session.sendShutdownNotice()
      if isFull { metrics.recordLimit(.requestsPerConnection) }
    case .announced(let deadline): until = deadline
    case .final: return
    }
    let isUrgent = poller.isDraining || isFull
    if isUrgent, until == .never { until = poller.deadline(after: HTTP2Connection.noticeTimeout) }
    if isUrgent, session.isNoticeAcknowledged || until.hasPassed(at: poller.now) {
      shutdown = .final
      session.shutDown()
    } else {
      shutdown = .announced(until: until)
    }
  }

  /// Closes the connection after the client has had time to receive the last frame. An immediate close could make the
  /// kernel send a reset, and the client could lose the frame.
  func close() async {
    breakStreams()
    session?.dropResponses()
    socket.shutdownWrite()
    let deadline = poller.deadline(after: configuration.lingerTimeout)
    var left = configuration.lingerBytes
    while left > 0, poller.buffers.ensureBlock(in: input) {
      input.clear()
      switch socket.receive(into: input) {
      case .moved(let count): left -= count
      case .wouldBlock:
        if await waiter.wait(socket, .readable, until: deadline) != .ready { left = 0 }
      case .ended, .failed: left = 0
      }
    }
    end()
  }

  func breakStreams() {
    for transport in transports where transport.isInUse { transport.abandon() }
  }

  func end() {
    breakStreams()
    life = .ended
    dismissSpares()
    removeUnserved()
    worker.forget(self)
    releaseBuffers()
    block.clear()
    waiter.cancelDeadline()
    if let timer { poller.disarm(timer) }
    socket.close()
  }

  private func releaseBuffers() {
    // The buffers held requests and responses, including credentials.
    poller.buffers.wipeAndGiveBack(input)
    poller.buffers.wipeAndGiveBack(output)
  }
}
