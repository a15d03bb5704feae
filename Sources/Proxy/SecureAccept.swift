import Reactor
import TLS

/// A client's TLS handshake; the connection is served when it is done.
final class SecureAccept: Activity {
  private let socket: Socket
  private let peer: Address
  private let server: TLSServer
  private let worker: ProxyWorker

  init(_ socket: Socket, peer: Address, _ server: TLSServer, _ worker: ProxyWorker) {
    self.socket = socket
    self.peer = peer
    self.server = server
    self.worker = worker
  }

  func run() async {
    let waiter = Waiter(worker.poller)
    let deadline = worker.poller.deadline(after: server.handshakeTimeout)
    do throws(TLSFailure) {
      let layer = try await server.accept(socket, with: waiter, gate: worker.handshakes, until: deadline)
      waiter.retire()
      worker.metrics.handshakeFinished(layer.isResumed ? .resumed : .full)
      worker.poller.start(ServerConnection(socket, peer: peer, worker))
    } catch {
      worker.metrics.handshakeFinished(.failed)
      if error == .plainHTTP { await explain(waiter) }
      waiter.retire()
      socket.close()
    }
  }

  /// Somebody typed the address without `https`: an alert would only show a broken page.
  private func explain(_ waiter: Waiter) async {
    let buffer = worker.poller.buffers.take()
    defer { worker.poller.buffers.giveBack(buffer) }
    buffer.append("HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 34\r\n")
    buffer.append("Connection: close\r\n\r\nThis port speaks TLS: use https.\r\n")
    // Small, and the first that is sent: it fits the socket's buffer.
    guard case .moved = socket.send(buffer) else { return }
    socket.shutdownWrite()
    // Closing with bytes unread would send a reset, which can overtake the answer.
    buffer.clear()
    let deadline = worker.poller.deadline(after: worker.settings.configuration.lingerTimeout)
    var left = worker.settings.configuration.lingerBytes
    while left > 0 {
      switch socket.receive(into: buffer) {
      case .moved(let count):
        left -= count
        buffer.clear()
      case .wouldBlock:
        if await waiter.wait(socket, .readable, until: deadline) != .ready { return }
      case .ended, .failed: return
      }
    }
  }
}
