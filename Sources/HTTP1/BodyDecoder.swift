internal import ByteText

/// A decoder that removes the framing of a body (RFC 9112, section 6) piece by piece and detects the end of the body.
public struct BodyDecoder: Sendable {
  /// The bytes at the start of the input that one call of `decode` has processed.
  public struct Piece: Equatable, Sendable {
    /// The number of these bytes, including framing.
    public var consumed: Int
    /// The range of the body's data among these bytes, without framing.
    public var data: Range<Int>
  }

  private enum State {
    case length(remaining: Int)
    case chunked(ChunkDecoder)
    case untilClose
    case finished
  }

  private var state: State

  /// Creates a decoder for a body with this framing.
  public init(_ framing: BodyFraming) {
    switch framing {
    case .none: state = .finished
    case .length(let count): state = count > 0 ? .length(remaining: count) : .finished
    case .chunked: state = .chunked(ChunkDecoder())
    case .untilClose: state = .untilClose
    }
  }

  /// True if the body has ended.
  public var isFinished: Bool {
    if case .finished = state { return true }
    return false
  }

  /// True in the trailer section of a chunked body.
  public var isInTrailers: Bool {
    if case .chunked(let decoder) = state { return decoder.isInTrailers }
    return false
  }

  /// Returns true if `next`, the next byte of the input, belongs to a trailer line; false for the line that ends the
  /// section.
  public func isTrailerByte(_ next: UInt8) -> Bool {
    if case .chunked(let decoder) = state { return decoder.isTrailerByte(next) }
    return false
  }

  /// The number of bytes of the body that have not been decoded yet; `nil` if the framing announces no length or the
  /// body has ended.
  public var remaining: Int? {
    if case .length(let remaining) = state { return remaining }
    return nil
  }

  /// Decodes bytes at the start of `input`. To decode all bytes, call this again with the rest of the input until
  /// `consumed` is 0. Throws if the chunked framing is malformed.
  public mutating func decode(_ input: Span<UInt8>) throws(MessageError) -> Piece {
    switch state {
    case .length(let remaining):
      let count = min(remaining, input.count)
      state = count == remaining ? .finished : .length(remaining: remaining - count)
      return Piece(consumed: count, data: 0..<count)
    case .chunked(var decoder):
      let piece = try decoder.decode(input)
      state = decoder.isFinished ? .finished : .chunked(decoder)
      return piece
    case .untilClose:
      return Piece(consumed: input.count, data: 0..<input.count)
    case .finished:
      return Piece(consumed: 0, data: 0..<0)
    }
  }

  /// Decodes `input` to its end, or to that of the body, and appends the data to `body`. Returns the number of bytes that
  /// were decoded.
  ///
  /// - Parameter stopsAtTrailers: True to end in front of a line of the trailer section.
  public mutating func decode(
    _ input: Span<UInt8>, into body: inout [UInt8], stopsAtTrailers: Bool = false
  ) throws(MessageError) -> Int {
    guard case .chunked(var decoder) = state else {
      let piece = try decode(input)
      body.append(copying: input.extracting(piece.data))
      return piece.consumed
    }
    let consumed = try decoder.decode(input, into: &body, stopsAtTrailers: stopsAtTrailers)
    state = decoder.isFinished ? .finished : .chunked(decoder)
    return consumed
  }

  /// Records that the sender has closed the connection. Returns true if the body is complete, and false if a part of it
  /// is missing (RFC 9112, section 8).
  public mutating func endsCompletely() -> Bool {
    switch state {
    case .untilClose, .finished:
      state = .finished
      return true
    case .length, .chunked: return false
    }
  }
}
