/// The layer between a socket's bytes and its user's: TLS.
///
/// A socket without one is plaintext. With one, `Socket.readiness` says what the *layer* can do: each
/// method clears what it found impossible, and `readiness(after:)` says what an event makes possible again.
public protocol RecordLayer: AnyObject {
  /// The protocol that both sides chose by ALPN (RFC 7301), e.g. `http/1.1`; `nil` without a choice.
  var applicationProtocol: String? { get }
  /// Bytes that the socket took in all, the layer's own among them.
  var written: Int { get }
  /// As `Socket.receive(into:)`. An end that the peer did not announce is a failure: the bytes before it may be cut off.
  func receive(into buffer: Buffer, _ socket: Socket) -> Transfer
  /// Sends at most `count` of the buffer's bytes and consumes what was taken. `more`: as for the socket.
  func send(_ buffer: Buffer, upTo count: Int, more: Bool, _ socket: Socket) -> Transfer
  /// The operations that become possible when the kernel reports `bits`.
  func readiness(after bits: Readiness) -> Readiness
  /// True if there is something to receive, an end included; takes in what is the layer's own business.
  func hasInput(_ socket: Socket) -> Bool
  /// Tells the peer that nothing more comes.
  func announceEnd()
  /// The connection ends without another word.
  func abandon()
}
