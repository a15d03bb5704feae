import Reactor

/// A connection to the upstream, in use by one exchange or idle in the pool.
final class UpstreamConnection: SocketObserver, TimerOwner {
  let socket: Socket
  private let pool: UpstreamPool
  /// The pool's when it was connected.
  let epoch: Int
  /// Received and not yet consumed; without a block while there is nothing.
  let input = Buffer()
  /// True if reads of the body have filled a block.
  private(set) var isBulk = false
  private(set) var isReused = false
  private let timer = Timer()
  private var isIdle = false
  /// Monotonic milliseconds at which the last exchange ended.
  private(set) var idleSince: UInt64 = 0

  init(_ socket: Socket, _ pool: UpstreamPool, epoch: Int) {
    self.socket = socket
    self.pool = pool
    self.epoch = epoch
  }

  /// Into the pool: from now on any event means that the upstream has closed it or talks out of turn.
  func park(now: UInt64, timeout: Int) {
    idleSince = now
    isIdle = true
    // Both stay while it is in use: taking them away and setting them again would count references for each request.
    if socket.observer == nil { socket.observer = self }
    pool.poller.arm(timer, for: self, after: timeout)
  }

  /// Out of the pool. The timer stays where it is: it is moved when the connection parks again.
  func unpark() {
    isIdle = false
    isReused = true
  }

  /// Receives into `input`.
  func receive() -> Transfer {
    pool.poller.buffers.fill(input)
    // Something may have stood before what is there: an interim response, an earlier part of the body.
    if input.readRoom == 0 { input.compact() }
    return socket.receive(into: input)
  }

  /// Receives more of a body into `input`. One that fills a block comes faster than it is read, and gets a wide one; TLS
  /// gives no more than a record at once.
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
