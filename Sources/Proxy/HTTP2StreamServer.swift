import Reactor

/// A task that serves streams of one HTTP/2 connection, one after the other.
///
/// A task with all that a request needs costs as much to make as a third of a small request, so it waits for the
/// connection's next stream. It serves no other client, and the state of one stream is reset for the next.
final class HTTP2StreamServer: Activity {
  private let connection: HTTP2Connection
  private let server: ServerConnection
  /// True if it has a stream to serve.
  private var hasStream = false
  /// True if it waits for one.
  private var isSpare = false

  init(_ connection: HTTP2Connection) {
    self.connection = connection
    server = ServerConnection(streamsOf: connection.base)
  }

  /// Is to serve `leg` next.
  ///
  /// - Parameter refusal: why its request is refused before it is read.
  func begin(_ leg: HTTP2StreamLeg, _ refusal: ProxyFailure?) {
    hasStream = true
    server.begin(leg, of: connection.base, refusal: refusal)
    leg.open(server.socket)
  }

  /// Goes on with the stream that was given to it, or ends without one.
  func wake() {
    isSpare = false
    server.waiter.resume(.ready)
  }

  func run() async {
    while hasStream {
      await server.run()
      hasStream = false
      isSpare = connection.keeps(self)
      // A deadline of the last request may still end a rest.
      while isSpare { await server.waiter.rest() }
    }
    server.endStreams()
  }
}
