internal import ByteText

/// A strict decoder of the chunked coding (RFC 9112, section 7.1).
///
///     chunked-body = *chunk last-chunk trailer-section CRLF
///     chunk        = chunk-size [ chunk-ext ] CRLF chunk-data CRLF
///
/// Chunk extensions and trailers are checked and limited in size. Extensions are dropped, because they have been used to
/// smuggle requests. A piece (`BodyDecoder.Piece`) ends in front of a trailer line, so that its user can keep the lines
/// (`TrailerFields`). Every line of the framing ends in CRLF; a bare CR or LF in it is an error.
struct ChunkDecoder: Sendable {
  /// The maximum number of hexadecimal digits in a chunk size. A number of 15 digits cannot overflow.
  private static let sizeDigitLimit = 15
  /// The maximum number of bytes of extensions per body, so that a sender cannot keep the gateway busy with framing. That
  /// of trailers is `TrailerFields.limit`.
  private static let extensionLimit = 4 * 1024

  private enum State {
    case size(digits: Int)  // the number of digits read so far
    /// The extensions of a chunk. They may contain all bytes that a field value may contain.
    case extensions
    /// A quoted string in the extensions, which must end in the same line. A decoder that looks for its end, and one that
    /// looks for the end of the line, would otherwise find different chunks.
    case quotedExtension
    /// The byte after a backslash in a quoted string.
    case quotedPair
    case sizeLineFeed
    case data
    case dataCarriageReturn
    case dataLineFeed
    /// The start of a line after the last chunk: a trailer field, or the empty line that ends the body.
    case trailerStart
    case trailerName
    case trailerValue
    case trailerLineFeed
    /// The line feed of the empty line that ends the body.
    case endLineFeed
    case finished
  }

  private var state = State.size(digits: 0)
  /// The number of bytes of the current chunk that have not been decoded yet.
  private var remaining = 0
  private var extensionBytes = 0
  private var trailerBytes = 0

  var isFinished: Bool {
    if case .finished = state { return true }
    return false
  }

  /// True in the trailer section: after the last chunk, in front of the end of the empty line.
  var isInTrailers: Bool {
    switch state {
    case .trailerStart, .trailerName, .trailerValue, .trailerLineFeed, .endLineFeed: true
    case .size, .extensions, .quotedExtension, .quotedPair, .sizeLineFeed, .data, .dataCarriageReturn, .dataLineFeed,
      .finished:
      false
    }
  }

  /// Returns true if `next`, the next byte of the input, belongs to a trailer line.
  func isTrailerByte(_ next: UInt8) -> Bool {
    switch state {
    case .trailerStart: next != .carriageReturn
    case .trailerName, .trailerValue, .trailerLineFeed: true
    case .size, .extensions, .quotedExtension, .quotedPair, .sizeLineFeed, .data, .dataCarriageReturn, .dataLineFeed,
      .endLineFeed, .finished:
      false
    }
  }

  /// Decodes bytes at the start of `input`, at most to the end of the first chunk data in it, or to the start of a
  /// trailer line.
  mutating func decode(_ input: Span<UInt8>) throws(MessageError) -> BodyDecoder.Piece {
    var position = 0
    while position < input.count {
      if case .data = state {
        let count = min(remaining, input.count - position)
        remaining -= count
        if remaining == 0 { state = .dataCarriageReturn }
        return BodyDecoder.Piece(consumed: position + count, data: position..<position + count)
      }
      try parseFraming(input[position])
      position += 1
      if endsPiece(input, position) { break }
    }
    return BodyDecoder.Piece(consumed: position, data: position..<position)
  }

  /// Returns true if the piece ends in front of `position`.
  private func endsPiece(_ input: Span<UInt8>, _ position: Int) -> Bool {
    switch state {
    case .finished: true
    case .trailerStart: position < input.count && input[position] != .carriageReturn
    default: false
    }
  }

  /// Processes one byte that is not chunk data.
  private mutating func parseFraming(_ byte: UInt8) throws(MessageError) {
    switch state {
    case .size(let digits): try parseSize(byte, digits)
    case .extensions:
      if byte == .carriageReturn {
        state = .sizeLineFeed
      } else {
        try count(byte, in: &extensionBytes, limit: ChunkDecoder.extensionLimit)
        if byte == UInt8(ascii: "\"") { state = .quotedExtension }
      }
    case .quotedExtension:
      guard byte != .carriageReturn else { throw .malformed("a quoted string without an end in a chunk extension") }
      try count(byte, in: &extensionBytes, limit: ChunkDecoder.extensionLimit)
      if byte == UInt8(ascii: "\"") { state = .extensions } else if byte == UInt8(ascii: "\\") { state = .quotedPair }
    case .quotedPair:
      try count(byte, in: &extensionBytes, limit: ChunkDecoder.extensionLimit)
      state = .quotedExtension
    case .sizeLineFeed:
      try expect(byte, .lineFeed)
      state = remaining == 0 ? .trailerStart : .data
    case .dataCarriageReturn:
      try expect(byte, .carriageReturn)
      state = .dataLineFeed
    case .dataLineFeed:
      try expect(byte, .lineFeed)
      state = .size(digits: 0)
    case .trailerStart, .trailerName, .trailerValue, .trailerLineFeed: try parseTrailer(byte)
    case .endLineFeed:
      try expect(byte, .lineFeed)
      state = .finished
    case .data, .finished: break
    }
  }

  private mutating func parseSize(_ byte: UInt8, _ digits: Int) throws(MessageError) {
    if let value = byte.hexadecimalValue.map(Int.init) {
      guard digits < ChunkDecoder.sizeDigitLimit else { throw .malformed("a chunk size with too many digits") }
      remaining = digits == 0 ? value : remaining * 16 + value
      state = .size(digits: digits + 1)
      return
    }
    guard digits > 0 else { throw .malformed("a chunk without a size") }
    switch byte {
    case .carriageReturn: state = .sizeLineFeed
    case 0x3b: state = .extensions  // a semicolon
    default: throw .malformed("an invalid chunk size")
    }
  }

  private mutating func parseTrailer(_ byte: UInt8) throws(MessageError) {
    switch state {
    case .trailerStart:
      if byte == .carriageReturn {
        state = .endLineFeed
      } else {
        guard byte.isToken else { throw .malformed("an invalid trailer field") }
        state = .trailerName
      }
    case .trailerName:
      try count(byte, in: &trailerBytes, limit: TrailerFields.limit)
      if byte == .colon {
        state = .trailerValue
      } else if !byte.isToken {
        throw .malformed("an invalid trailer field")
      }
    case .trailerValue:
      if byte == .carriageReturn {
        state = .trailerLineFeed
      } else {
        try count(byte, in: &trailerBytes, limit: TrailerFields.limit)
      }
    default:
      try expect(byte, .lineFeed)
      state = .trailerStart
    }
  }

  private func expect(_ byte: UInt8, _ expected: UInt8) throws(MessageError) {
    guard byte == expected else { throw .malformed("an invalid line end in a chunked body") }
  }

  /// Counts a byte of an extension or trailer. Throws for a control character, and if the number exceeds `limit`.
  private func count(_ byte: UInt8, in number: inout Int, limit: Int) throws(MessageError) {
    guard byte.isFieldText else { throw .malformed("a control character in a chunked body's framing") }
    number += 1
    guard number <= limit else { throw MessageError(status: 413, "a chunked body with too much framing") }
  }
}
