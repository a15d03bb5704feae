import Reactor

/// A task that serves streams of one HTTP/2 connection, one after the other.
///
/// Creating a task with everything that a request needs costs a third of a small request. So the task waits for the
/// next stream of its connection after each one. It serves no other client, and the state of one stream is reset for
/// the next.
final class HTTP2StreamServer: Activity {
  private let connection: HTTP2Connection
  private let server: ServerConnection
  private var stage = Stage.ended

  private enum Stage {
    /// It serves a stream, or refuses its request for this reason before it is read.
    case serving(ProxyFailure?)
    /// It waits for the next stream.
    case spare
    /// No stream comes.
    case ended
  }

  init(_ connection: HTTP2Connection) {
    self.connection = connection
    server = ServerConnection(streamsOf: connection.base)
  }

  /// Sets the stream of `leg` as the next to serve.
  ///
  /// - Parameter refusal: the reason to refuse the request before it is read, if any.
  func begin(_ leg: HTTP2StreamTransport, _ refusal: ProxyFailure?) {
    stage = .serving(refusal)
    server.begin(leg, of: connection.base)
    leg.open(server.socket)
  }

  /// Continues with the assigned stream, or ends the task if there is none.
  func wake() {
    if case .spare = stage { stage = .ended }
    server.waiter.resume(.ready)
  }

  func run() async {
    while case .serving(let refusal) = stage {
      if let refusal { await server.refuse(refusal) } else { await server.run() }
      stage = connection.keeps(self) ? .spare : .ended
      // A deadline of the last request may still end a rest.
      while case .spare = stage { await server.waiter.waitForReuse() }
    }
    server.endStreams()
  }
}
