import HTTP1
import Reactor
import TLS

/// The handshake of a connection on a TLS listener.
extension ServerConnection {
  var awaitsHandshake: Bool { tls != nil && socket.layer == nil }

  /// Takes the client's handshake, if the listener speaks TLS.
  func secure() async -> Entry {
    guard let tls else { return .admitted }
    do throws(TLSFailure) {
      let deadline = poller.deadline(after: tls.handshakeTimeout)
      let layer = try await tls.accept(socket, with: waiter, gate: worker.handshakes, until: deadline)
      layer.floodHandler = worker.keyUpdateFlood
      worker.metrics.handshakeFinished(layer.isResumed ? .resumed : .full)
      identify()
      return .admitted
    } catch {
      worker.metrics.handshakeFinished(.failed)
      guard error == .plainHTTP, worker.beginRefusal() else { return .closed }
      // Somebody typed the address without `https`: a TLS alert would only show a broken page.
      isRefused = true
      return .refused(.request(MessageError(status: 400, "plain HTTP where TLS is spoken; use https")))
    }
  }
}
