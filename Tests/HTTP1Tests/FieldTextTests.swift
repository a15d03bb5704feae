import HTTP
import Testing

struct FieldTextTests {
  @Test(
    "Every value has one text, which encodes to the same bytes",
    arguments: [
      [], Array("plain".utf8), Array("\u{e9}\u{1f511}".utf8), [0xe9], [0x61, 0xff, 0x62], [0xc3], [0xed, 0xa0, 0x80],
      // The characters that represent bytes, in UTF-8: they are not read as those bytes.
      Array("\u{f780}".utf8), Array("a\u{f7ff}b".utf8), [0xef, 0x9e, 0x80, 0xff], Array("\u{f77f}\u{f800}".utf8),
      Array(0x80...0xff), Array("\u{f780}\u{10ffff}".utf8), [0xef, 0x9e, 0xef, 0x9f], [0xef],
    ])
  func roundTrip(_ bytes: [UInt8]) {
    #expect(FieldText.encode(FieldText.decode(bytes)) == bytes)
  }

  @Test("Different values have different texts")
  func distinct() {
    let values: [[UInt8]] = [
      [0x80], Array("\u{80}".utf8), Array("\u{f780}".utf8), [0xef, 0x9e], [0xff], [0xc0], [0xc2, 0x80, 0xff],
    ]
    #expect(Set(values.map(FieldText.decode)).count == values.count)
  }

  @Test("A text has at most three bytes for each of the value")
  func length() {
    for bytes in [[UInt8](repeating: 0xff, count: 100), Array("\u{f780}\u{f7ff}".utf8), [0x61, 0x80]] {
      #expect(FieldText.decode(bytes).utf8.count <= 3 * bytes.count)
    }
  }

  @Test("UTF-8 is decoded as text")
  func plain() {
    #expect(FieldText.decode(Array("\u{e9}".utf8)) == "\u{e9}")
  }
}
