/// The transport of a socket without a descriptor: one stream of a multiplexed connection, e.g. of HTTP/2.
///
/// The transport calls `Socket.signal` when an operation becomes possible.
public protocol StreamTransport: AnyObject {
  /// Receives the bytes that fit into the buffer.
  func receive(into buffer: Buffer) -> Transfer
  /// Accepts at most `count` bytes and consumes those that it accepted.
  func send(_ buffer: Buffer, upTo count: Int) -> Transfer
  /// Ends the sending side; bytes that still arrive are discarded.
  func shutdownWrite()
  /// Called when the socket is closed. `isReset` is true if the peer must not accept the sent bytes as a complete
  /// message.
  func close(isReset: Bool)
}
