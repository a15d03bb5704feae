import Compression

/// Input: a coded body. In each coding it decodes as a simple reader decodes it, or is refused. The content is never
/// longer than the limit, no byte may follow it or be missing, and a compressed content decodes to itself.
enum ContentCodingTarget {
  private static let limit = 100_000

  static func check(_ input: [UInt8]) throws(Violation) {
    for coding in [ContentCoding.gzip, .deflate] {
      guard let content = decode(input, coding) else { continue }
      let allowed = max(Decoder.lengthWithoutRatioLimit, input.count * Decoder.ratioLimit)
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
    // With a zlib header the same bytes have another meaning.
    let isWrapped = input.count >= 2 && input[0] & 0x0f == 8 && (Int(input[0]) << 8 | Int(input[1])) % 31 == 0
    guard !input.isEmpty, !isWrapped else { return }
    let allowed = min(limit, max(Decoder.lengthWithoutRatioLimit, input.count * Decoder.ratioLimit))
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
