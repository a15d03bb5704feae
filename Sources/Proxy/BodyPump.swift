import HTTP1
import Reactor

/// Moves one body from a receive buffer towards a socket and gives it new framing on the way.
///
/// Bytes that need no new framing are sent straight from the receive buffer; others are copied into the send buffer.
struct BodyPump {
  enum Output {
    /// The framing announced a length or ends with the connection: bytes go out as they are.
    case plain
    case chunked
  }

  private var decoder: BodyDecoder
  private let output: Output
  private let isDirect: Bool
  /// Bytes at the front of the receive buffer that may go out as they are.
  private(set) var direct = 0
  private var hasEnded = false

  init(_ framing: BodyFraming, as output: Output) {
    decoder = BodyDecoder(framing)
    self.output = output
    isDirect = output == .plain && framing != .chunked
    hasEnded = decoder.isFinished && output == .plain
  }

  /// True if the source has nothing more to give.
  var isDecoded: Bool { decoder.isFinished }
  /// True if `direct` and the send buffer hold everything that is to be sent.
  var isEncoded: Bool { hasEnded && direct == 0 }

  /// Room that a chunk's framing takes: up to 8 hexadecimal digits and two line ends.
  private static let chunkOverhead = 12
  private static let copyLimit = 2048
  private static let end: StaticString = "0\r\n\r\n"

  /// Decodes what `source` holds, into `direct` or `sink`, as far as there is room.
  mutating func advance(from source: Buffer, to sink: Buffer) throws(MessageError) {
    if isDirect {
      if direct == 0, !source.isEmpty { try decodeDirect(source) }
      if !sink.isEmpty, direct <= BodyPump.copyLimit, direct <= sink.room { joinHead(source, sink) }
    } else {
      while !source.isEmpty, !decoder.isFinished, sink.room > BodyPump.chunkOverhead + 64 {
        let consumed = try copyPiece(source, sink)
        if consumed == 0 { break }
        source.consume(consumed)
      }
    }
    try finish(sink)
  }

  /// The sender has closed: ends the body, or says that it was cut.
  mutating func close(_ sink: Buffer) -> Bool {
    guard decoder.close() else { return false }
    try? finish(sink)
    return true
  }

  /// So many direct bytes were sent.
  mutating func sentDirect(_ count: Int) {
    direct -= count
    if decoder.isFinished, direct == 0 { hasEnded = true }
  }

  /// A short body behind a head is copied next to it: cheaper than to have the kernel gather two parts.
  private mutating func joinHead(_ source: Buffer, _ sink: Buffer) {
    sink.append(from: source, offset: 0, count: direct)
    source.consume(direct)
    direct = 0
  }

  private mutating func decodeDirect(_ source: Buffer) throws(MessageError) {
    direct = try source.withSpan { (bytes: Span<UInt8>) throws(MessageError) -> Int in
      try decoder.decode(bytes).data.count
    }
  }

  private mutating func copyPiece(_ source: Buffer, _ sink: Buffer) throws(MessageError) -> Int {
    // A piece is never more than fits: the decoder is shown only so much.
    let limit = min(source.count, sink.room - BodyPump.chunkOverhead - BodyPump.end.utf8CodeUnitCount)
    let piece = try source.withSpan { (bytes: Span<UInt8>) throws(MessageError) -> BodyDecoder.Piece in
      try decoder.decode(bytes.extracting(0..<limit))
    }
    if !piece.data.isEmpty {
      if output == .chunked {
        sink.append(hexadecimal: piece.data.count)
        sink.append("\r\n")
      }
      sink.append(from: source, offset: piece.data.lowerBound, count: piece.data.count)
      if output == .chunked { sink.append("\r\n") }
    }
    return piece.consumed
  }

  private mutating func finish(_ sink: Buffer) throws(MessageError) {
    guard decoder.isFinished, !hasEnded else { return }
    switch output {
    case .plain:
      hasEnded = direct == 0
    case .chunked:
      guard sink.room >= BodyPump.end.utf8CodeUnitCount else { return }
      sink.append(BodyPump.end)
      hasEnded = true
    }
  }
}
