import Reactor
import Time

/// A connection to the upstream, in use by one exchange or idle in the pool.
final class UpstreamConnection: SocketObserver, TimerOwner {
  let socket: Socket
  private let pool: UpstreamPool
  /// The pool's epoch when the connection was opened.
  let epoch: Int
  /// Received bytes that are not yet consumed; without a block while empty.
  let input = Buffer()
  /// True if a read of the body has filled a block.
  private(set) var isBulk = false
  /// True if the connection has been idle in the pool before this exchange.
  private(set) var isReused = false
  private let timer = Timer()
  private var isIdle = false
  /// The time at which the last exchange ended.
  private(set) var idleSince: MonotonicTime = 0

  init(_ socket: Socket, _ pool: UpstreamPool, epoch: Int) {
    self.socket = socket
    self.pool = pool
    self.epoch = epoch
  }

  /// Prepares the connection for the pool. Any event then means that the upstream has closed the connection or sent
  /// unexpected bytes.
  func park(now: MonotonicTime, timeout: Milliseconds) {
    idleSince = now
    isIdle = true
    // Observer and timer stay set while the connection is in use: clearing and setting them again would cost reference
    // counting per request.
    if socket.observer == nil { socket.observer = self }
    pool.poller.arm(timer, for: self, after: timeout)
  }

  /// Prepares the connection for use. The timer stays armed: its deadline is moved when the connection parks again.
  func unpark() {
    isIdle = false
    isReused = true
  }

  /// Receives into `input`.
  func receive() -> Transfer {
    pool.poller.buffers.fill(input)
    // Bytes in front of the present ones may have been consumed: those of an interim response, or an earlier part of
    // the body.
    if input.readRoom == 0 { input.compact() }
    return socket.receive(into: input)
  }

  /// Receives more of a body into `input`. A body that fills a block arrives faster than it is read, so it gets a wide
  /// block; but not with TLS, which returns at most one record at a time.
  func receiveBody() -> Transfer {
    if isBulk, input.isEmpty { pool.poller.buffers.widen(input) }
    let result = receive()
    if case .moved(Buffer.readSize) = result, socket.layer == nil { isBulk = true }
    return result
  }

  func releaseInput() {
    isBulk = false
    pool.poller.buffers.giveBack(input)
  }

  func socketIsReady(_ socket: Socket) {
    if isIdle, socket.hasInput() { pool.discard(self) }
  }

  func workerIsDraining() {}

  func timerExpired() {
    if isIdle { pool.discard(self) }
  }

  func close() {
    pool.poller.disarm(timer)
    pool.poller.buffers.wipeAndGiveBack(input)
    socket.close()
  }
}
