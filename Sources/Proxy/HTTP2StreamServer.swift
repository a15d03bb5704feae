import Reactor

/// A task that serves streams of one HTTP/2 connection, one after the other.
///
/// A new task for each stream, with all objects that a request needs, would add a third to the cost of a small request.
/// So after each stream, the task waits for the next stream of its connection. The task serves no other client, and its
/// state is reset for each stream.
final class HTTP2StreamServer: Activity {
  private let connection: HTTP2Connection
  private let server: ServerConnection
  private var stage = Stage.ended

  private enum Stage {
    /// The task serves a stream. If there is a failure, the task refuses the request without reading the request.
    case serving(ProxyFailure?)
    /// The task waits for the next stream.
    case spare
    /// The task ends.
    case ended
  }

  init(_ connection: HTTP2Connection) {
    self.connection = connection
    server = ServerConnection(streamsOf: connection.acceptedConnection)
  }

  /// Sets the stream of `transport` as the next to serve.
  ///
  /// - Parameter refusal: The reason to refuse the request before it is read, if any.
  func begin(_ transport: HTTP2StreamTransport, _ refusal: ProxyFailure?) {
    stage = .serving(refusal)
    server.begin(transport, of: connection.acceptedConnection)
    transport.open(server.socket)
  }

  /// Continues with the assigned stream, or ends the task if there is none.
  func wake() {
    if case .spare = stage { stage = .ended }
    server.waiter.resume(.ready)
  }

  func run() async {
    while case .serving(let refusal) = stage {
      if let refusal { await server.refuse(refusal) } else { await server.run() }
      stage = connection.keepSpare(self) ? .spare : .ended
      // The wait may end early, because a deadline of the last request is still armed.
      while case .spare = stage { await server.waiter.waitForResume() }
    }
    server.releaseAfterLastStream()
  }
}
