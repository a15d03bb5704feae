internal import Cryptography

/// The bytes are not what a writer of this layout wrote.
public struct PayloadError: Error, Hashable, Sendable {
  public init() {}
}

/// Reads what `PayloadWriter` wrote, strictly: one spelling per value, nothing beyond the end, nothing left over.
public struct PayloadReader: Sendable {
  private var bytes: [UInt8]
  private var next = 0

  public init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  public mutating func byte() throws(PayloadError) -> UInt8 {
    guard next < bytes.count else { throw PayloadError() }
    defer { next += 1 }
    return bytes[next]
  }

  public mutating func number() throws(PayloadError) -> UInt64 {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while true {
      let part = try byte()
      // The tenth byte has one bit to give.
      guard shift < 63 || part <= 1 else { throw PayloadError() }
      value |= UInt64(part & 0x7f) << shift
      if part & 0x80 == 0 {
        // A zero at the end would be a second spelling.
        guard part != 0 || shift == 0 else { throw PayloadError() }
        return value
      }
      shift += 7
    }
  }

  /// Exactly `count` bytes.
  public mutating func fixed(_ count: Int) throws(PayloadError) -> [UInt8] {
    guard count >= 0, count <= bytes.count - next else { throw PayloadError() }
    defer { next += count }
    return Array(bytes[next..<next + count])
  }

  public mutating func data() throws(PayloadError) -> [UInt8] {
    guard let count = Int(exactly: try number()) else { throw PayloadError() }
    return try fixed(count)
  }

  /// Refuses what is not UTF-8.
  public mutating func text() throws(PayloadError) -> String {
    guard let count = Int(exactly: try number()), count <= bytes.count - next else { throw PayloadError() }
    defer { next += count }
    guard let text = try? UTF8Span(validating: bytes.span.extracting(next..<next + count)) else { throw PayloadError() }
    return String(copying: text)
  }

  /// Refuses what follows the last field.
  public func finish() throws(PayloadError) {
    guard next == bytes.count else { throw PayloadError() }
  }

  mutating func wipe() {
    Cryptography.wipe(&bytes)
    next = 0
  }
}
