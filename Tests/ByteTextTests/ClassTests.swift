import ByteText
import Testing

@Suite("Classes of bytes")
struct ClassTests {
  private static func bytes(_ text: String) -> Set<UInt8> { Set(text.utf8) }
  private static let lowercase = bytes("abcdefghijklmnopqrstuvwxyz")
  private static let uppercase = bytes("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
  private static let digits = bytes("0123456789")

  @Test(
    "The reading in ASCII has one byte for each, and no byte of it is one that a grammar permits unless the text has it",
    arguments: ["", "abc", "a,\u{301}b", "é", "\u{FDFA}", "😀,", "\u{10FFFF}", "\r\n\u{0}"])
  func asciiReading(_ text: String) {
    let reading = Array(text.asciiReading.utf8)
    #expect(reading == text.utf8.map { $0 < 0x80 ? $0 : 0x7f })
    #expect(text.asciiReading.utf8.count == text.utf8.count)
  }

  @Test("Every byte is in exactly the classes that the grammar puts it in", arguments: UInt8.min...UInt8.max)
  func classes(byte: UInt8) {
    let alphanumeric = Self.lowercase.union(Self.uppercase).union(Self.digits)
    let token = alphanumeric.union(Self.bytes("!#$%&'*+-.^_`|~"))
    #expect(byte.isLowercaseLetter == Self.lowercase.contains(byte))
    #expect(byte.isUppercaseLetter == Self.uppercase.contains(byte))
    #expect(byte.isLetter == Self.lowercase.union(Self.uppercase).contains(byte))
    #expect(byte.isDigit == Self.digits.contains(byte))
    #expect(byte.isLetterOrDigit == alphanumeric.contains(byte))
    #expect(byte.isHexadecimalDigit == Self.bytes("0123456789abcdefABCDEF").contains(byte))
    #expect((byte.hexadecimalValue != nil) == byte.isHexadecimalDigit)
    #expect(byte.isUnreserved == alphanumeric.union(Self.bytes("-._~")).contains(byte))
    #expect(byte.isToken == token.contains(byte))
    #expect(byte.isLowercaseToken == token.subtracting(Self.uppercase).contains(byte))
    #expect(byte.isBlank == Self.bytes(" \t").contains(byte))
    #expect(byte.isControl == ((0..<0x20).contains(byte) || byte == 0x7f))
    #expect(byte.isFieldText == (!byte.isControl || byte == 0x09))
    #expect(byte.lowercasedASCII == (byte.isUppercaseLetter ? byte + 32 : byte))
  }

  @Test("A hexadecimal digit is written as it is read", arguments: 0..<16 as Range<UInt8>)
  func digits(value: UInt8) {
    #expect(UInt8(hexadecimalDigit: value).hexadecimalValue == value)
  }

  @Test(
    "The parts of a list are those between its separators, also where a combining mark follows one",
    arguments: ["", "a", " a ,\tb", ",", "a,,b,", "a,\u{301}b, c", "\u{301},\u{ff}", "a\u{301} , b"])
  func parts(_ text: String) {
    let bytes = Array(text.utf8)
    var found: [[UInt8]] = []
    bytes.span.forEachPart(separatedBy: UInt8(ascii: ",")) { part in
      found.append(Array(bytes[part]))
      return true
    }
    let expected = bytes.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
    #expect(found == expected.map { Array($0.trimmed(while: \.isBlank)) })
    var count = 0
    bytes.span.forEachPart(separatedBy: UInt8(ascii: ","), in: bytes.count / 2..<bytes.count) { _ in
      count += 1
      return false
    }
    #expect(count == 1)
  }

  @Test("Trimming drops spaces and tabs at both ends alone")
  func trimming() {
    for (text, trimmed) in [("", ""), (" \t", ""), ("a", "a"), (" a\tb\t", "a\tb"), ("\u{a0}a", "\u{a0}a")] {
      #expect(Substring(Substring(text).utf8.trimmed(while: \.isBlank)) == trimmed)
      let bytes = Array(text.utf8)
      #expect(String(decoding: bytes[bytes.span.trimmed(0..<bytes.count)], as: UTF8.self) == trimmed)
    }
  }
}
