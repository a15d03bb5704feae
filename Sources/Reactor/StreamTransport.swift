/// The transport of a socket without a descriptor: one stream of a multiplexed connection at a time, e.g. of HTTP/2.
///
/// The transport calls `Socket.signal` when an operation becomes possible. A class, because a call through a protocol
/// retains and releases the object.
open class StreamTransport {
  /// Creates a transport that has no stream yet.
  public init() {}

  /// Receives the bytes that fit into the buffer.
  open func receive(into buffer: Buffer) -> Transfer { missing("receive") }

  /// Accepts at most `count` bytes and consumes those that it accepted.
  open func send(_ buffer: Buffer, upTo count: Int) -> Transfer { missing("send") }

  /// Ends the sending side; bytes that still arrive are discarded.
  open func shutdownWrite() { missing("shutdownWrite") }

  /// Called when the socket is closed. `isReset` is true if the peer must not accept the sent bytes as a complete
  /// message.
  open func close(isReset: Bool) { missing("close") }

  private func missing(_ name: StaticString) -> Never {
    preconditionFailure("a subclass of StreamTransport must override `\(name)`")
  }
}
