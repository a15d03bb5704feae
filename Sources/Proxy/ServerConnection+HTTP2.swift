import HTTP2
import Reactor

/// The refusal of a client that speaks HTTP/2 with prior knowledge, before there is a session for it.
extension ServerConnection {
  /// Returns true if the client has sent the preface of HTTP/2, and receives for that what has come.
  func hasSentPreface() -> Bool {
    guard mayBeHTTP2 else { return false }
    if input.isEmpty, socket.satisfies(.readable) { _ = receive() }
    return input.withSpan { HTTP2Preface.matches($0) } ?? false
  }

  /// Says with a GOAWAY that the client is to come back later, and drops what it still sends: unread bytes would make the
  /// kernel answer with a reset, which takes the reason away.
  func refuseHTTP2() async {
    let buffer = poller.buffers.take()
    buffer.append(HTTP2Refusal.bytes)
    // Small and the first thing on the connection: it fits the socket's buffer.
    _ = socket.send(buffer)
    poller.buffers.giveBack(buffer)
    worker.metrics.requestFinished(.refused, status: 0, nanoseconds: 0)
    await linger()
    close()
  }
}
