import HTTP
import Testing

struct FieldTextTests {
  @Test(
    "Every value has one text, which encodes to the same bytes",
    arguments: [
      [], Array("plain".utf8), Array("\u{e9}\u{1f511}".utf8), [0xe9], [0x61, 0xff, 0x62], [0xc3], [0xed, 0xa0, 0x80],
      // The characters that represent bytes, in UTF-8: they are not read as those bytes.
      Array("\u{10ff80}".utf8), Array("a\u{10ffff}b".utf8), [0xf4, 0x8f, 0xbe, 0x80, 0xff], Array("\u{10ff7f}".utf8),
    ])
  func roundTrip(_ bytes: [UInt8]) {
    #expect(FieldText.encode(FieldText.decode(bytes)) == bytes)
  }

  @Test("Different values have different texts")
  func distinct() {
    let values: [[UInt8]] = [
      [0x80], Array("\u{80}".utf8), Array("\u{10ff80}".utf8), [0xf4, 0x8f, 0xbe], [0xff], [0xc2, 0x80, 0xff],
    ]
    #expect(Set(values.map(FieldText.decode)).count == values.count)
  }

  @Test("UTF-8 is decoded as text")
  func plain() {
    #expect(FieldText.decode(Array("\u{e9}".utf8)) == "\u{e9}")
  }
}
