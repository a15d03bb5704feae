/// Takes a body's framing off, piece by piece, and knows when it has ended.
public struct BodyDecoder: Sendable {
  /// What a call to `decode` found at the front of the input.
  public struct Piece: Equatable, Sendable {
    /// Bytes of the input that are done with, framing included. The data lies within them.
    public var consumed: Int
    /// Where the body's own bytes stand in the input.
    public var data: Range<Int>
  }

  private enum State {
    case length(Int)
    case chunked(ChunkDecoder)
    case untilClose
    case finished
  }

  private var state: State

  public init(_ framing: BodyFraming) {
    switch framing {
    case .none: state = .finished
    case .length(let count): state = count > 0 ? .length(count) : .finished
    case .chunked: state = .chunked(ChunkDecoder())
    case .untilClose: state = .untilClose
    }
  }

  public var isFinished: Bool {
    if case .finished = state { return true }
    return false
  }

  /// Bytes that are still to come, if that is known.
  public var remaining: Int? {
    if case .length(let count) = state { return count }
    return nil
  }

  /// Decodes from the front of `input`; call again with the rest until a piece has neither data nor consumed bytes.
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

  /// The sender has closed. Returns whether that ends the body properly (RFC 9112, section 8).
  public mutating func close() -> Bool {
    switch state {
    case .untilClose, .finished:
      state = .finished
      return true
    case .length, .chunked: return false
    }
  }
}
