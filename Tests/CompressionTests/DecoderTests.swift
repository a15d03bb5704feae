import Testing

@testable import Compression

/// The bodies were made by other programs: gzip 1.12 and Python's zlib.
struct DecoderTests {
  private static let text = Array(String(repeating: "{\"access_token\":\"abc\"}\n", count: 3).utf8)
  /// `printf ... | gzip -n`
  private static let gzipped = bytes(
    "1f8b0800000000000003ab564a4c4e4e2d2e8e2fc9cf4ecd53b2524a4c4a56aae5aa264918008a308aa845000000")
  /// `zlib.compress(text)`
  private static let wrapped = bytes("789cab564a4c4e4e2d2e8e2fc9cf4ecd53b2524a4c4a56aae5aa264918004e691795")
  /// The same data without header and checksum.
  private static let raw = bytes("ab564a4c4e4e2d2e8e2fc9cf4ecd53b2524a4c4a56aae5aa26491800")

  private static func bytes(_ hexadecimal: String) -> [UInt8] {
    let digits = Array(hexadecimal.utf8)
    return stride(from: 0, to: digits.count - 1, by: 2).map { index in
      UInt8(String(decoding: digits[index...index + 1], as: UTF8.self), radix: 16) ?? 0
    }
  }

  private static func failure(
    _ body: [UInt8], _ coding: ContentCoding = .gzip, limit: Int = 1 << 20
  ) -> CompressionError? {
    do throws(CompressionError) {
      _ = try Decoder.decode(body, coding, limit: limit)
      return nil
    } catch {
      return error
    }
  }

  @Test("gzip, zlib-wrapped deflate and raw deflate are decoded")
  func codings() throws {
    #expect(try Decoder.decode(Self.gzipped, .gzip, limit: 1000) == Self.text)
    #expect(try Decoder.decode(Self.wrapped, .deflate, limit: 1000) == Self.text)
    #expect(try Decoder.decode(Self.raw, .deflate, limit: 1000) == Self.text)
    #expect(try Decoder.decode([], .gzip, limit: 1000).isEmpty)
  }

  @Test("The members of a gzip body are decoded one after the other")
  func members() throws {
    #expect(try Decoder.decode(Self.gzipped + Self.gzipped, .gzip, limit: 1000) == Self.text + Self.text)
  }

  @Test("A truncated body is refused at every length")
  func truncated() {
    for count in 1..<Self.gzipped.count {
      #expect(Self.failure(Array(Self.gzipped[..<count])) == .truncated, "\(count)")
    }
    for count in 2..<Self.wrapped.count {
      #expect(Self.failure(Array(Self.wrapped[..<count]), .deflate) == .truncated, "\(count)")
    }
    for count in 1..<Self.raw.count {
      #expect(Self.failure(Array(Self.raw[..<count]), .deflate) != nil, "\(count)")
    }
    #expect(Self.failure(Self.gzipped + Self.gzipped.dropLast(4)) == .truncated)
  }

  @Test("Garbage, bytes after the end and a wrong checksum are refused")
  func garbage() {
    #expect(Self.failure(Self.text) == .malformed)
    #expect(Self.failure(Self.text, .deflate) != nil)
    #expect(Self.failure(Self.gzipped + [0]) != nil)
    #expect(Self.failure(Self.gzipped + Self.text) == .malformed)
    #expect(Self.failure(Self.wrapped + [0], .deflate) == .malformed)
    #expect(Self.failure(Self.raw + [0], .deflate) == .malformed)
    var damaged = Self.gzipped
    damaged[damaged.count - 8] ^= 1
    #expect(Self.failure(damaged) == .malformed)
    damaged = Self.wrapped
    damaged[damaged.count - 1] ^= 1
    #expect(Self.failure(damaged, .deflate) == .malformed)
    // A zlib header with a preset dictionary (RFC 1950, section 2.2).
    #expect(Self.failure([0x78, 0xbb, 0, 0, 0, 1, 3, 0], .deflate) == .malformed)
  }

  @Test("A body larger than the limit is refused, and a body as large as the limit is decoded")
  func size() throws {
    #expect(try Decoder.decode(Self.gzipped, .gzip, limit: Self.text.count) == Self.text)
    #expect(Self.failure(Self.gzipped, limit: Self.text.count - 1) == .tooLarge)
    #expect(Self.failure(Self.gzipped + Self.gzipped, limit: 2 * Self.text.count - 1) == .tooLarge)
  }

  @Test("A body that grows to more than 100 times its length is refused, whatever the limit")
  func ratio() throws {
    let bomb = try #require(Encoder.gzip([UInt8](repeating: 0, count: 1_000_000)))
    #expect(bomb.count < 2_000)
    #expect(Self.failure(bomb, limit: 1 << 30) == .tooLarge)
    let zeros = [UInt8](repeating: 0, count: Decoder.lengthWithoutRatioLimit)
    let small = try #require(Encoder.gzip(zeros))
    #expect(small.count * Decoder.ratioLimit < zeros.count)
    #expect(try Decoder.decode(small, .gzip, limit: 1 << 20) == zeros)
    let over = try #require(Encoder.gzip(zeros + [0]))
    #expect(Self.failure(over) == .tooLarge)
  }

  @Test("A compressed body decodes to the same body", arguments: [0, 1, 1023, 20_000, 300_000])
  func roundTrip(count: Int) throws {
    let body = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 3) }
    let coded = try #require(Encoder.gzip(body))
    #expect(coded.prefix(3) == [0x1f, 0x8b, 8])
    #expect(try Decoder.decode(coded, .gzip, limit: count) == body)
  }
}
