/// Finds the end of a head in bytes that arrive piece by piece, each byte looked at once.
///
/// A bare line feed is refused at once (RFC 9112, section 2.2 lets a recipient accept it; servers that disagree on it
/// are a way to smuggle requests), so a sender does not learn it by a deadline.
public struct HeadScanner {
  private var scanned = 0
  /// The offset behind the last line end; a line end there ends the head.
  private var lineStart = 0

  public init() {}

  /// The length of the head with its empty line, or `nil` when more bytes are needed.
  public mutating func end(of bytes: Span<UInt8>) throws(MessageError) -> Int? {
    var position = scanned
    let count = bytes.count
    while position < count {
      if bytes[position] == ASCII.lf {
        guard position > 0, bytes[position - 1] == ASCII.cr else { throw .malformed("a bare line feed in the head") }
        if position - 1 == lineStart, lineStart > 0 { return position + 1 }
        lineStart = position + 1
      }
      position += 1
    }
    scanned = position
    return nil
  }
}
