import HTTP2
import Reactor
import Telemetry

/// Parking of a connection without streams, and its end.
extension HTTP2Connection: SocketObserver, TimerOwner {
  /// Milliseconds for the client to learn of a shutdown: more than most round trips.
  private static let noticeTimeout = 1_000

  /// Parks the connection. Returns false if there is work after all.
  func park() -> Bool {
    isPausing = false
    if socket.satisfies(.readable) || poller.isDraining || worker.isWindingDown { return false }
    releaseBuffers()
    waiter.retire()
    isParked = true
    dismissSpares()
    let timer = self.timer ?? Timer()
    self.timer = timer
    let left = deadlines.idle.map { $0.milliseconds > poller.now ? Int($0.milliseconds - poller.now) : 0 } ?? 0
    poller.arm(timer, for: self, after: left)
    return true
  }

  func unpark() {
    isParked = false
    if let timer { poller.disarm(timer) }
    poller.start(self)
  }

  func socketIsReady(_ socket: Socket) {
    if isParked, socket.satisfies(.readable) { unpark() }
  }

  func workerIsDraining() { wake() }

  func timerExpired() {
    guard isParked, let session else { return }
    worker.metrics.limited(.idleTimeout)
    session.shutDown()
    hasShutDown = true
    unpark()
  }

  // MARK: The end

  /// Ends gracefully in two steps if the worker is about to stop or the connection has reached its number of requests
  /// (RFC 9113, section 6.8).
  func announceEnd(_ session: HTTP2Session) {
    let isFull = requests >= configuration.limits.requestsPerConnection
    guard worker.isWindingDown || poller.isDraining || isFull, !hasShutDown else { return }
    if !hasNoticed {
      hasNoticed = true
      session.noticeShutdown()
      if isFull { worker.metrics.limited(.requestsPerConnection) }
    }
    guard poller.isDraining || isFull else { return }
    let deadline = deadlines.notice ?? poller.deadline(after: HTTP2Connection.noticeTimeout)
    deadlines.notice = deadline
    if session.isNoticeAcknowledged || deadline.hasPassed(at: poller.now) {
      deadlines.notice = nil
      hasShutDown = true
      session.shutDown()
    }
  }

  /// Closes so that the last frame arrives: an immediate close would send a reset, which can overtake it.
  func close() async {
    breakStreams()
    session?.dropResponses()
    socket.shutdownWrite()
    let deadline = poller.deadline(after: configuration.lingerTimeout)
    var left = configuration.lingerBytes
    while left > 0 {
      poller.buffers.fill(input)
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
    for leg in legs { leg.abandon() }
  }

  func end() {
    breakStreams()
    hasEnded = true
    dismissSpares()
    removeUnserved()
    worker.forget(self)
    releaseBuffers()
    block.clear()
    waiter.retire()
    if let timer { poller.disarm(timer) }
    socket.close()
  }

  private func releaseBuffers() {
    // They held requests and responses, including credentials.
    poller.buffers.wipeAndGiveBack(input)
    poller.buffers.wipeAndGiveBack(output)
  }
}
