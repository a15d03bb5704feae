/// Removes the framing of a body, piece by piece, and detects the end of the body.
public struct BodyDecoder: Sendable {
  /// The part at the front of the input that a call of `decode` processed.
  public struct Piece: Equatable, Sendable {
    /// The number of processed bytes, including framing. `data` lies within them.
    public var consumed: Int
    /// The range of the body's data in the input, without framing.
    public var data: Range<Int>
  }

  private enum State {
    case length(Int)
    case chunked(ChunkDecoder)
    case untilClose
    case finished
  }

  private var state: State

  /// Creates a decoder for a body with this framing.
  public init(_ framing: BodyFraming) {
    switch framing {
    case .none: state = .finished
    case .length(let count): state = count > 0 ? .length(count) : .finished
    case .chunked: state = .chunked(ChunkDecoder())
    case .untilClose: state = .untilClose
    }
  }

  /// True if the body has ended.
  public var isFinished: Bool {
    if case .finished = state { return true }
    return false
  }

  /// The number of bytes still to come, if the framing announced a length; otherwise, and after the end, `nil`.
  public var remaining: Int? {
    if case .length(let count) = state { return count }
    return nil
  }

  /// Decodes a part at the front of `input`. To decode all of it, call again with the rest until a piece consumes
  /// nothing. Throws if the chunked framing is malformed.
  public mutating func decode(_ input: Span<UInt8>) throws(MessageError) -> Piece {
    switch state {
    case .length(let remaining):
      let count = min(remaining, input.count)
      state = count == remaining ? .finished : .length(remaining - count)
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

  /// Records that the sender closed the connection. Returns true if the body is complete (RFC 9112, section 8).
  public mutating func close() -> Bool {
    switch state {
    case .untilClose, .finished:
      state = .finished
      return true
    case .length, .chunked: return false
    }
  }
}
