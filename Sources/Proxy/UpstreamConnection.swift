import Reactor

/// A connection to the upstream, in use by one exchange or idle in the pool.
final class UpstreamConnection: SocketObserver, TimerOwner {
  let socket: Socket
  private let pool: UpstreamPool
  /// Received and not yet consumed; `nil` while there is nothing.
  var input: Buffer?
  private(set) var isReused = false
  private let timer = Timer()
  /// Monotonic milliseconds at which the last exchange ended.
  private(set) var idleSince: UInt64 = 0

  init(_ socket: Socket, _ pool: UpstreamPool) {
    self.socket = socket
    self.pool = pool
  }

  /// Into the pool: from now on any event means that the upstream has closed it or talks out of turn.
  func park(now: UInt64, timeout: Int) {
    idleSince = now
    socket.observer = self
    pool.poller.arm(timer, for: self, after: timeout)
  }

  /// Out of the pool. The timer stays where it is: it is moved when the connection parks again.
  func unpark() {
    socket.observer = nil
    isReused = true
  }

  func releaseInput() {
    guard let input else { return }
    pool.poller.buffers.giveBack(input)
    self.input = nil
  }

  func socketIsReady(_ socket: Socket) {
    if socket.hasInput() { pool.discard(self) }
  }

  func workerIsDraining() {}

  func timerExpired() {
    if socket.observer != nil { pool.discard(self) }
  }

  func close() {
    pool.poller.disarm(timer)
    if let input {
      pool.poller.buffers.wipeAndGiveBack(input)
      self.input = nil
    }
    socket.close()
  }
}
