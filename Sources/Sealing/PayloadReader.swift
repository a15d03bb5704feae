internal import Cryptography

/// The error for bytes that a `PayloadWriter` cannot have written in the expected format.
public struct PayloadError: Error, Hashable, Sendable {
  /// Creates the error; it has no details, because a payload is secret.
  public init() {}
}

/// A strict reader of the bytes of a `PayloadWriter`. Its methods throw `PayloadError` if a value does not have the
/// encoding that the writer uses for it, or if bytes are missing or left over.
public struct PayloadReader: Sendable {
  private var bytes: [UInt8]
  /// The index of the next byte to read.
  private var position = 0

  /// Creates a reader that starts at the first byte.
  public init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// Reads one byte.
  public mutating func readByte() throws(PayloadError) -> UInt8 {
    guard position < bytes.count else { throw PayloadError() }
    defer { position += 1 }
    return bytes[position]
  }

  /// Reads a number of variable length, as `PayloadWriter.writeNumber(_:)` writes it.
  public mutating func readNumber() throws(PayloadError) -> UInt64 {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while true {
      let part = try readByte()
      // Nine bytes hold 63 bits, so the tenth byte may hold only one more.
      guard shift < 63 || part <= 1 else { throw PayloadError() }
      value |= UInt64(part & 0x7f) << shift
      if part & 0x80 == 0 {
        // A final zero byte would be a second encoding of the same number.
        guard part != 0 || shift == 0 else { throw PayloadError() }
        return value
      }
      shift += 7
    }
  }

  /// Reads `count` bytes.
  public mutating func readBytes(count: Int) throws(PayloadError) -> [UInt8] {
    guard count >= 0, count <= bytes.count - position else { throw PayloadError() }
    defer { position += count }
    return Array(bytes[position..<position + count])
  }

  /// Reads a count and then that number of bytes.
  public mutating func readBytes() throws(PayloadError) -> [UInt8] {
    guard let count = Int(exactly: try readNumber()) else { throw PayloadError() }
    return try readBytes(count: count)
  }

  /// Reads a text. Throws if it is not valid UTF-8.
  public mutating func readText() throws(PayloadError) -> String {
    guard let count = Int(exactly: try readNumber()), count <= bytes.count - position else { throw PayloadError() }
    defer { position += count }
    guard let text = try? UTF8Span(validating: bytes.span.extracting(position..<position + count)) else {
      throw PayloadError()
    }
    return String(copying: text)
  }

  /// Throws if there are bytes after the last field that was read.
  public func finish() throws(PayloadError) {
    guard position == bytes.count else { throw PayloadError() }
  }

  /// Overwrites the payload with zeros.
  mutating func wipe() {
    Cryptography.wipe(&bytes)
    position = 0
  }
}
