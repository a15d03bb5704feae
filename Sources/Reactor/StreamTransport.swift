/// The transport of a socket that has no descriptor: a stream of a connection that carries several.
///
/// It calls `Socket.signal` when an operation becomes possible.
public protocol StreamTransport: AnyObject {
  /// Receives what fits into the buffer.
  func receive(into buffer: Buffer) -> Transfer
  /// Takes at most `count` bytes and consumes what it took.
  func send(_ buffer: Buffer, upTo count: Int) -> Transfer
  /// Nothing more is sent, and what still comes is of no use.
  func shutdownWrite()
  /// The socket was closed. `isReset`: what was sent must not pass for the whole.
  func close(isReset: Bool)
}
