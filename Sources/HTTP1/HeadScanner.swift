internal import ByteText

/// A scanner that finds the end of a head whose bytes arrive piece by piece. It reads each byte only once.
///
/// It rejects a bare line feed immediately, so that the sender gets an error instead of a timeout. RFC 9112, section
/// 2.2, lets a recipient accept a bare line feed. But requests can be smuggled if one server accepts it and another
/// server does not.
public struct HeadScanner {
  /// The number of bytes that have been read.
  private var scanned = 0
  /// The offset after the last line end, where the next line begins. If this line is empty, it ends the head.
  private var lineStart = 0

  /// Creates a scanner for a new head.
  public init() {}

  /// Returns the length of the head including its empty line; `nil` if more bytes are needed. `bytes` contains all
  /// bytes of the head received so far. Throws on a bare line feed.
  public mutating func end(of bytes: Span<UInt8>) throws(MessageError) -> Int? {
    while scanned <= bytes.count &- 8 {
      var found = bytes.word(at: scanned).positions(of: .lineFeed)
      while found != 0 {
        if try endLine(bytes, at: scanned &+ found.trailingZeroBitCount &>> 3) { return lineStart }
        found &= found &- 1
      }
      scanned &+= 8
    }
    while scanned < bytes.count {
      if bytes[scanned] == .lineFeed, try endLine(bytes, at: scanned) { return lineStart }
      scanned &+= 1
    }
    return nil
  }

  /// Processes the line feed at `offset`. Returns true if its line is empty, and so ends the head. An empty line in
  /// front of the first line does not count (RFC 9112, section 2.2).
  private mutating func endLine(_ bytes: Span<UInt8>, at offset: Int) throws(MessageError) -> Bool {
    guard offset > 0, bytes[offset &- 1] == .carriageReturn else { throw .malformed("a bare line feed in the head") }
    let isEmpty = offset &- 1 == lineStart && lineStart > 0
    lineStart = offset &+ 1
    return isEmpty
  }
}
