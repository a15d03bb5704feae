internal import ByteText
import HTTP1
import Reactor

/// Moves one body from a receive buffer (the source) towards a socket, and changes its framing if necessary.
///
/// Bytes whose framing does not change are sent directly from the source (direct bytes). All others are copied into a
/// send buffer (the sink). If the head of a short body is still in the sink, the body is copied behind the head, too.
struct BodyPump {
  /// The framing of the outgoing body.
  enum Output {
    /// The data is sent without framing: the head announced the length of the data, or the end of the connection ends
    /// the data.
    case plain
    case chunked
  }

  private var decoder: BodyDecoder
  private let output: Output
  /// True if bytes are sent directly from the source.
  private let isDirect: Bool
  /// The number of bytes at the front of the source that can be sent unchanged.
  private(set) var directCount = 0
  /// The number of bytes of data that were copied into the sink, without framing.
  private(set) var copiedCount = 0
  /// True if the end of the outgoing body is in the sink or was sent.
  private var hasEnded = false
  /// True if the trailers of a chunked body are forwarded. The pump then stops in front of them, and its user calls
  /// `takeTrailers` and `finish(withTrailers:to:)`.
  var keepsTrailers = false
  /// True if `takeTrailers` has read a part of the trailers.
  private(set) var hasTrailers = false

  init(_ framing: BodyFraming, as output: Output) {
    decoder = BodyDecoder(framing)
    self.output = output
    isDirect = output == .plain && framing != .chunked
    hasEnded = decoder.isFinished && output == .plain
  }

  /// True if the decoder has read the end of the body. Direct bytes may still be in the source.
  var hasReadEnd: Bool { decoder.isFinished }
  /// True if all bytes of the outgoing body are in the sink or were sent.
  var isDrained: Bool { hasEnded && directCount == 0 }

  /// True if the pump has stopped in front of trailers, or waits for more of them.
  var awaitsTrailers: Bool { keepsTrailers && decoder.isInTrailers }

  /// The maximum number of bytes that frame a chunk: 8 hexadecimal digits and two line ends.
  private static let chunkOverhead = 12
  /// The maximum number of direct bytes that are copied behind the head of their body.
  private static let copyLimit = 2048
  private static let lastChunk: StaticString = "0\r\n\r\n"

  /// Decodes the bytes of `source`. Bytes that must be copied are decoded only as far as there is room in `sink`.
  /// Afterwards the bytes to send are those in `sink`, followed by the first `directCount` bytes of `source`.
  mutating func advance(from source: Buffer, to sink: Buffer) throws(MessageError) {
    if isDirect {
      if directCount == 0, !source.isEmpty { try decodeDirect(source) }
      if !sink.isEmpty, directCount <= BodyPump.copyLimit, directCount <= sink.room { copyBehindHead(source, sink) }
    } else {
      // The 64 bytes prevent very small chunks, and leave room for the last chunk.
      while !source.isEmpty, !decoder.isFinished, sink.room > BodyPump.chunkOverhead + 64 {
        if keepsTrailers, isInFrontOfTrailers(source) { break }
        let consumed = try copyPiece(source, sink)
        if consumed == 0 { break }
        source.consume(consumed)
      }
    }
    finish(sink)
  }

  /// True if the next bytes belong to a trailer section that is not empty.
  private func isInFrontOfTrailers(_ source: Buffer) -> Bool {
    decoder.isInTrailers && (hasTrailers || decoder.isTrailerByte(source.withSpan { $0[0] }))
  }

  /// Moves the bytes of the trailer section from `source` to the end of `section`, as far as they have arrived.
  mutating func takeTrailers(from source: Buffer, into section: inout [UInt8]) throws(MessageError) {
    while !source.isEmpty, decoder.isInTrailers {
      let piece = try source.withSpan { (bytes: Span<UInt8>) throws(MessageError) -> BodyDecoder.Piece in
        try decoder.decode(bytes)
      }
      if piece.consumed == 0 { break }
      section += source.bytes(from: 0, count: piece.consumed)
      source.consume(piece.consumed)
      hasTrailers = true
      try TrailerFields.checkLength(section.count)
    }
  }

  /// Writes the end of the chunked body with these trailer lines to `sink`, which is empty. The decoder has read the end
  /// of the body.
  mutating func finish(withTrailers lines: [UInt8], to sink: Buffer) {
    sink.append("0\r\n")
    sink.append(lines)
    sink.append("\r\n")
    hasEnded = true
  }

  /// Ends the body because the sender closed the connection. Returns false if the body is incomplete.
  mutating func endBody(into sink: Buffer) -> Bool {
    guard decoder.endsCompletely() else { return false }
    finish(sink)
    return true
  }

  /// Records that `count` direct bytes were sent, or moved to the sink.
  mutating func sentDirect(_ count: Int) {
    directCount -= count
    if decoder.isFinished, directCount == 0 { hasEnded = true }
  }

  /// Moves the direct bytes, which are the rest of the body, from `source` to the end of `sink`, so that the source can
  /// be used for something else. If `sink` is empty and `source` contains only these bytes, the two buffers exchange
  /// their blocks, and nothing is copied.
  ///
  /// Returns false if the end of the body has not arrived yet, or if `sink` has too little room.
  mutating func moveRest(from source: Buffer, to sink: Buffer) -> Bool {
    guard decoder.isFinished else { return false }
    if directCount > 0 {
      if sink.isEmpty, source.count == directCount {
        sink.exchangeBlocks(with: source)
      } else {
        sink.compact()
        guard directCount <= sink.room else { return false }
        sink.append(from: source, offset: 0, count: directCount)
        source.consume(directCount)
      }
      sentDirect(directCount)
    }
    return isDrained
  }

  /// Copies the direct bytes into the sink, behind the head. For few bytes, this costs less than a send from two buffers.
  private mutating func copyBehindHead(_ source: Buffer, _ sink: Buffer) {
    sink.append(from: source, offset: 0, count: directCount)
    source.consume(directCount)
    directCount = 0
  }

  private mutating func decodeDirect(_ source: Buffer) throws(MessageError) {
    directCount = try source.withSpan { (bytes: Span<UInt8>) throws(MessageError) -> Int in
      try decoder.decode(bytes).data.count
    }
  }

  private mutating func copyPiece(_ source: Buffer, _ sink: Buffer) throws(MessageError) -> Int {
    // The decoder gets only as many bytes as fit, so a piece is never too large.
    let limit = min(source.count, sink.room - BodyPump.chunkOverhead - BodyPump.lastChunk.utf8CodeUnitCount)
    let piece = try source.withSpan { (bytes: Span<UInt8>) throws(MessageError) -> BodyDecoder.Piece in
      try decoder.decode(bytes.extracting(0..<limit))
    }
    if !piece.data.isEmpty, piece.data.count < BodyPump.smallChunk, piece.consumed < limit, !decoder.isFinished {
      return try joinChunks(after: piece, limit, source, sink)
    }
    if !piece.data.isEmpty {
      copiedCount &+= piece.data.count
      if output == .chunked {
        sink.append(hexadecimal: piece.data.count)
        sink.append("\r\n")
      }
      sink.append(from: source, offset: piece.data.lowerBound, count: piece.data.count)
      if output == .chunked { sink.append("\r\n") }
    }
    return piece.consumed
  }

  /// The number of bytes of data below which a chunk is sent together with those behind it. Framing and decoding of a chunk
  /// take some hundred instructions, so many small ones would cost much more than their data.
  private static let smallChunk = 64

  /// Copies the data of a small chunk, and of all that follow it in the first `limit` bytes of `source`, as one chunk.
  private mutating func joinChunks(
    after first: BodyDecoder.Piece, _ limit: Int, _ source: Buffer, _ sink: Buffer
  ) throws(MessageError) -> Int {
    var data: [UInt8] = []
    let consumed = try source.withSpan { (bytes: Span<UInt8>) throws(MessageError) -> Int in
      data.append(copying: bytes.extracting(first.data))
      return try decoder.decode(
        bytes.extracting(first.consumed..<limit), into: &data, stopsAtTrailers: keepsTrailers)
    }
    copiedCount &+= data.count
    if output == .chunked {
      sink.append(hexadecimal: data.count)
      sink.append("\r\n")
    }
    sink.append(data)
    if output == .chunked { sink.append("\r\n") }
    return first.consumed + consumed
  }

  private mutating func finish(_ sink: Buffer) {
    guard decoder.isFinished, !hasEnded else { return }
    switch output {
    case .plain:
      hasEnded = directCount == 0
    case .chunked:
      guard sink.room >= BodyPump.lastChunk.utf8CodeUnitCount else { return }
      sink.append(BodyPump.lastChunk)
      hasEnded = true
    }
  }
}
