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
    while scanned <= bytes.count &- 8 {
      var found = bytes.word(at: scanned).everyPlace(of: ASCII.lf)
      while found != 0 {
        if try endsHead(bytes, at: scanned &+ found.trailingZeroBitCount &>> 3) { return lineStart }
        found &= found &- 1
      }
      scanned &+= 8
    }
    while scanned < bytes.count {
      if bytes[scanned] == ASCII.lf, try endsHead(bytes, at: scanned) { return lineStart }
      scanned &+= 1
    }
    return nil
  }

  /// True if the line that ends with the line feed at `offset` is the empty one behind all others.
  private mutating func endsHead(_ bytes: Span<UInt8>, at offset: Int) throws(MessageError) -> Bool {
    guard offset > 0, bytes[offset &- 1] == ASCII.cr else { throw .malformed("a bare line feed in the head") }
    let isEmpty = offset &- 1 == lineStart && lineStart > 0
    lineStart = offset &+ 1
    return isEmpty
  }
}
