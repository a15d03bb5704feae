internal import Bytes

/// Finds the end of a head in bytes that arrive piece by piece, each line looked at once.
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
    while let found = bytes.firstIndex(of: ASCII.lf, from: scanned) {
      guard found > 0, bytes[found - 1] == ASCII.cr else { throw .malformed("a bare line feed in the head") }
      if found - 1 == lineStart, lineStart > 0 { return found + 1 }
      lineStart = found + 1
      scanned = lineStart
    }
    scanned = bytes.count
    return nil
  }
}
