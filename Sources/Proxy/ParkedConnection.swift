import HTTP1
import Reactor
import Telemetry

/// A client connection that has been idle for a while, without a task and without buffers. It needs a fifth of the
/// memory of a connection that is being served.
///
/// There may be very many of these objects. The next byte from the client turns one into a `ServerConnection` again.
final class ParkedConnection: TimerEntry, SocketObserver {
  /// True until the connection is passed to a `ServerConnection`.
  private var isParked = true
  let listener: UInt16
  let socket: Socket
  let worker: ProxyWorker
  // The state from which the next `ServerConnection` continues.
  let socketPeer: Address
  let proxiedClient: ProxyHeader.Client?
  let admission: Admission
  let state: ConnectionState
  /// The deadline for the client's next request; a wake-up without a request does not extend it.
  let idleDeadline: Deadline

  init(
    _ socket: Socket, _ worker: ProxyWorker, listener: UInt16, socketPeer: Address,
    proxiedClient: ProxyHeader.Client?, _ admission: Admission, _ state: ConnectionState, idleDeadline: Deadline
  ) {
    self.socket = socket
    self.worker = worker
    self.listener = listener
    self.socketPeer = socketPeer
    self.proxiedClient = proxiedClient
    self.admission = admission
    self.state = state
    self.idleDeadline = idleDeadline
    super.init()
    // The only strong reference to this object. `resume` and the close of the socket remove it.
    socket.observer = self
    worker.poller.arm(self, after: idleDeadline.remainingTime(at: worker.poller.now))
  }

  deinit {
    if isParked { worker.metrics.connectionClosed() }
  }

  func socketIsReady(_ socket: Socket) {
    if socket.satisfies(.readable) { resume() }
  }

  /// Resumes the connection, which then ends unless a request has arrived meanwhile.
  func workerIsDraining() { resume() }

  private func resume() {
    isParked = false
    worker.poller.disarm(self)
    socket.observer = nil
    worker.poller.start(ServerConnection(self))
  }

  override func expired() {
    worker.metrics.recordLimit(.idleTimeout)
    socket.close()
  }
}
