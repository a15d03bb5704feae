/// A layer between a socket and its user that transforms the bytes. The only one is TLS.
///
/// A socket without a layer is plaintext. With a layer, `Socket.readiness` contains the operations that the *layer* can
/// do. A `receive` that would block removes `readable` from `Socket.readiness`, and a `send` that would block removes
/// `writable`. When the kernel reports an event, the socket adds the operations that `readiness(after:)` returns.
public protocol RecordLayer: AnyObject {
  /// The protocol chosen by ALPN (RFC 7301), e.g. `http/1.1`; `nil` without a choice.
  var applicationProtocol: String? { get }
  /// The version of the protocol, e.g. `TLSv1.3`.
  var version: String { get }
  /// The number of bytes that the socket has sent, including the overhead of the layer.
  var written: Int { get }
  /// Like `Socket.receive(into:)`. An end that the peer did not announce is a failure, because the data may be
  /// truncated.
  func receive(into buffer: Buffer, _ socket: Socket) -> Transfer
  /// Sends at most `count` bytes of the buffer and consumes those that were sent.
  func send(_ buffer: Buffer, upTo count: Int, _ socket: Socket) -> Transfer
  /// Returns the operations that become possible when the kernel reports `bits`.
  func readiness(after bits: Readiness) -> Readiness
  /// Returns true if there is data to receive, or an end; also processes messages of the layer itself.
  func hasInput(_ socket: Socket) -> Bool
  /// Announces to the peer that no more data follows.
  func announceEnd()
  /// Makes the layer send no announcement of the end when the socket is closed.
  func abandon()
}
