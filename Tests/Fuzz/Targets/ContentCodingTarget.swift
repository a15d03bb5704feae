import Compression

/// Input: a coded body. It reads as a naive reader reads it, in each coding, or is refused; content is never longer than
/// what is allowed; nothing may follow it or be missing; what is compressed reads the same.
enum ContentCodingTarget {
  private static let limit = 100_000

  static func check(_ input: [UInt8]) throws(Violation) {
    for coding in [ContentCoding.gzip, .deflate] {
      guard let content = decode(input, coding) else { continue }
      let allowed = max(Decoder.ratioFree, input.count * Decoder.ratioLimit)
      try Violation.unless(content.count <= min(limit, allowed), "more content than is allowed")
      guard !input.isEmpty else { continue }
      try Violation.unless(decode(Array(input.dropLast()), coding) == nil, "a body without its last byte is read")
      try Violation.unless(coding == .gzip || decode(input + [0], coding) == nil, "a byte behind the end is ignored")
      try Violation.unless(decode(input + [0x42], coding) == nil, "a byte behind the end is ignored")
    }
    try checkRaw(input)
    guard let coded = Encoder.gzip(input) else { throw Violation("it is not compressed") }
    try Violation.unless(decode(coded, .gzip) == input, "what is compressed reads in another way")
  }

  private static func checkRaw(_ input: [UInt8]) throws(Violation) {
    // Wrapped as zlib does it, the same bytes mean something else.
    let isWrapped = input.count >= 2 && input[0] & 0x0f == 8 && (Int(input[0]) << 8 | Int(input[1])) % 31 == 0
    guard !input.isEmpty, !isWrapped else { return }
    let allowed = min(limit, max(Decoder.ratioFree, input.count * Decoder.ratioLimit))
    let expected = InflateReader.read(input, limit: allowed)
    try Violation.unless(decode(input, .deflate) == expected, "a naive reader reads \(expected?.count ?? -1) bytes")
  }

  private static func decode(_ body: [UInt8], _ coding: ContentCoding) -> [UInt8]? {
    do throws(CompressionError) {
      return try Decoder.decode(body, coding, limit: limit)
    } catch {
      return nil
    }
  }
}
