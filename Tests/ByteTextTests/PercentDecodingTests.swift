import ByteText
import Testing

@Suite("Percent-decoding")
struct PercentDecodingTests {
  private func strict(_ text: String, plusIsSpace: Bool = false) -> String? {
    PercentDecoding.strict(text.utf8.span, plusIsSpace: plusIsSpace).map { String(decoding: $0, as: UTF8.self) }
  }

  private func lenient(_ text: String) -> String {
    String(decoding: PercentDecoding.lenient(text.utf8.span), as: UTF8.self)
  }

  private func repeated(_ text: String) -> String {
    String(decoding: PercentDecoding.repeated(text.utf8.span), as: UTF8.self)
  }

  @Test(
    "A whole escape is decoded once in the first two modes",
    arguments: [("", ""), ("a", "a"), ("%41", "A"), ("%2f%2F", "//"), ("%2541", "%41"), ("a%62c", "abc")])
  func escapes(text: String, decoded: String) {
    #expect(strict(text) == decoded)
    #expect(lenient(text) == decoded)
  }

  @Test(
    "A broken escape makes strict decoding fail, and the other modes keep it",
    arguments: ["%", "%4", "a%4", "%4g", "%g4", "%%4", "%+1", "%-1"])
  func broken(text: String) {
    #expect(strict(text) == nil)
    #expect(strict(text, plusIsSpace: true) == nil)
    #expect(lenient(text) == text)
    #expect(repeated(text) == text)
  }

  @Test("A plus is a space only in a form, and an escaped one is a plus there")
  func plus() {
    #expect(strict("a+b%2Bc") == "a+b+c")
    #expect(strict("a+b%2Bc", plusIsSpace: true) == "a b+c")
    #expect(lenient("a+b%2Bc") == "a+b+c")
  }

  @Test(
    "Decoding to the end decodes what decoding makes, wherever the percent sign and the digits come from",
    arguments: [("%2541", "A"), ("%252541", "A"), ("%%341", "A"), ("%4%31", "A"), ("%25%34%31", "A"), ("%25g", "%g")])
  func end(text: String, decoded: String) {
    #expect(repeated(text) == decoded)
  }

  @Test("Decoding to the end is decoding once until nothing changes")
  func fixedPoint() {
    let parts = ["%", "2", "5", "4", "1", "a", "%25", "%32"]
    for number in 0..<parts.count * parts.count * parts.count * parts.count {
      let text = [1, 8, 64, 512].map { parts[number / $0 % 8] }.joined()
      var expected = text
      while lenient(expected) != expected { expected = lenient(expected) }
      #expect(repeated(text) == expected, "\(text)")
    }
  }
}
