import Reactor

/// A task that serves streams of one HTTP/2 connection, one after the other.
///
/// A new task for each stream, with all objects that a request needs, would add a third to the cost of a small request.
/// So after each stream, the task waits until the object of its stream is reused. The task serves no other client, and
/// its state is reset for each stream.
final class HTTP2StreamServer: Activity {
  private let connection: ServerConnection
  private let server: ServerConnection
  private let waiter: Waiter
  /// The socket of the task: closed unless it serves a stream.
  let socket: Socket
  private var stage = Stage.spare

  private enum Stage {
    /// The task is to serve a stream. If there is a failure, the task refuses the request without reading it.
    case assigned(ProxyFailure?)
    case serving
    /// The task waits for the next stream.
    case spare
    /// The task ends.
    case ended
  }

  /// - Parameter stream: The transport whose streams the task serves.
  init(_ stream: HTTP2StreamTransport, of connection: ServerConnection) {
    self.connection = connection
    server = ServerConnection(stream, of: connection)
    waiter = server.waiter
    socket = server.socket
  }

  /// Opens the socket for the next stream of the transport, and continues the task.
  func begin(_ refusal: ProxyFailure?) {
    stage = .assigned(refusal)
    server.beginStream(of: connection)
    waiter.resume(.ready)
    socket.openStream()
    socket.signal([.readable, .writable])
  }

  /// Ends the task when it has served its stream.
  func dismiss() {
    stage = .ended
    waiter.resume(.ready)
  }

  func run() async {
    while true {
      switch stage {
      case .assigned(let refusal):
        stage = .serving
        if let refusal { await server.refuse(refusal) } else { await server.run() }
        if case .serving = stage { stage = .spare }
      // The wait may end early, because a deadline of the last request is still armed.
      case .spare, .serving: await waiter.waitForResume()
      case .ended: return server.releaseAfterLastStream()
      }
    }
  }
}
