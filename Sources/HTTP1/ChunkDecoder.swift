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
    case size
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

  private var state = State.size
  /// The number of digits of the current chunk size that were read.
  private var sizeDigits = 0
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

  /// Decodes `input` to its end, or to that of the body, and appends the data to `body`. Returns the number of bytes that
  /// were decoded. A chunk of one byte costs about 150 instructions.
  ///
  /// - Parameter stopsAtTrailers: True to end in front of a trailer line.
  mutating func decode(
    _ input: Span<UInt8>, into body: inout [UInt8], stopsAtTrailers: Bool
  ) throws(MessageError) -> Int {
    var position = 0
    while position < input.count, !isFinished {
      if case .data = state {
        let data = takeData(input, position)
        if data.count == 1 { body.append(input[position]) } else { body.append(copying: input.extracting(data)) }
        position = data.upperBound
      } else {
        try parseFraming(input, &position)
        if stopsAtTrailers, endsPiece(input, position) { break }
      }
    }
    return position
  }

  /// Returns the range of the data of the current chunk that begins at `position`.
  private mutating func takeData(_ input: Span<UInt8>, _ position: Int) -> Range<Int> {
    let count = min(remaining, input.count - position)
    remaining -= count
    if remaining == 0 { state = .dataCarriageReturn }
    return position..<position + count
  }

  /// Decodes bytes at the start of `input`, at most to the end of the first chunk data in it, or to the start of a
  /// trailer line.
  mutating func decode(_ input: Span<UInt8>) throws(MessageError) -> BodyDecoder.Piece {
    var position = 0
    while position < input.count {
      if case .data = state {
        let data = takeData(input, position)
        return BodyDecoder.Piece(consumed: data.upperBound, data: data)
      }
      try parseFraming(input, &position)
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

  /// Processes bytes that are not chunk data: one, or those of the line of a size or of the end of the data.
  @inline(__always)
  private mutating func parseFraming(_ input: Span<UInt8>, _ position: inout Int) throws(MessageError) {
    if case .size = state { parseDigits(input, &position) }
    guard position < input.count else { return }
    let byte = input[position]
    position += 1
    switch state {
    case .size:
      try endSize(byte)
      guard case .sizeLineFeed = state, position < input.count else { return }
      position += 1
      try endSizeLine(input[position - 1])
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
    case .sizeLineFeed: try endSizeLine(byte)
    case .dataCarriageReturn:
      try expect(byte, .carriageReturn)
      state = .dataLineFeed
      guard position < input.count else { return }
      position += 1
      try endData(input[position - 1])
    case .dataLineFeed: try endData(byte)
    case .trailerStart, .trailerName, .trailerValue, .trailerLineFeed: try parseTrailer(byte)
    case .endLineFeed:
      try expect(byte, .lineFeed)
      state = .finished
    case .data, .finished: break
    }
  }

  /// Reads the digits of a size, as far as they have arrived and are not too many.
  private mutating func parseDigits(_ input: Span<UInt8>, _ position: inout Int) {
    while position < input.count, sizeDigits < ChunkDecoder.sizeDigitLimit, let digit = input[position].hexadecimalValue
    {
      remaining = remaining * 16 + Int(digit)
      sizeDigits += 1
      position += 1
    }
  }

  /// Processes the byte after the digits of a size.
  private mutating func endSize(_ byte: UInt8) throws(MessageError) {
    guard sizeDigits > 0 else { throw .malformed("a chunk without a size") }
    sizeDigits = 0
    switch byte {
    case .carriageReturn: state = .sizeLineFeed
    case 0x3b: state = .extensions  // a semicolon
    case _ where byte.hexadecimalValue != nil: throw .malformed("a chunk size with too many digits")
    default: throw .malformed("an invalid chunk size")
    }
  }

  private mutating func endSizeLine(_ byte: UInt8) throws(MessageError) {
    try expect(byte, .lineFeed)
    state = remaining == 0 ? .trailerStart : .data
  }

  private mutating func endData(_ byte: UInt8) throws(MessageError) {
    try expect(byte, .lineFeed)
    state = .size
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
