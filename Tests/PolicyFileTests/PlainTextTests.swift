import Testing

@testable import PolicyFile

@Suite("Values in text form")
struct PlainTextTests {
  @Test(
    "Addresses are parsed in their usual spelling",
    arguments: [
      ("127.0.0.1", "00000000000000000000ffff7f000001"), ("::1", "00000000000000000000000000000001"),
      ("::", "00000000000000000000000000000000"), ("2001:db8::8:800", "20010db8000000000000000000080800"),
      ("::ffff:10.0.0.1", "00000000000000000000ffff0a000001"),
      ("1:2:3:4:5:6:7:8", "00010002000300040005000600070008"),
      ("1:2:3:4:5:6:1.2.3.4", "00010002000300040005000601020304"),
    ])
  func addresses(_ text: String, _ bytes: String) {
    let hex = AddressText.parse(text)?.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    #expect(hex == bytes)
  }

  @Test(
    "Other spellings of addresses are refused",
    arguments: [
      "127.1", "127.0.0.01", "0x7f.0.0.1", "256.0.0.1", "1.2.3", "1.2.3.4.5", ":::", "::1::", "1:2:3:4:5:6:7",
      "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7::8:9", "g::", "12345::", "fe80::1%eth0", "", "1.2.3.4::", "+1.2.3.4",
    ])
  func notAddresses(_ text: String) {
    #expect(AddressText.parse(text) == nil)
  }

  @Test(
    "URLs that two parsers could read as two hosts are refused",
    arguments: [
      "https://id.example.com@evil.example", "https://", "https:///x", "https://a b", "https://ID.example.com",
      "https://a..b", "https://-a", "https://a.", "https://1.2.3", "https://[::1", "https://[::1]x", "https://a:0",
      "https://a:65536", "https://a:", "https://a:080", "https://a\\b", "ftp://a", "https:/a", "HTTPS://a",
      "https://a?",
      "https://a#",
    ])
  func notURLs(_ text: String) {
    #expect(throws: URLText.Problem.self) { try URLText(parsing: text) }
  }

  @Test(
    "A duration or size needs a number and a unit", arguments: ["1", "1.5s", "-1s", "1 s", "s", "1d", "01s", ""])
  func notDurations(_ text: String) {
    #expect(UnitNotation.milliseconds(parsing: text) == nil)
  }

  @Test("Numbers out of range are refused")
  func overflow() {
    #expect(UnitNotation.milliseconds(parsing: "9223372036854775807h") == nil)
    #expect(UnitNotation.bytes(parsing: "99999999999999999999GiB") == nil)
    #expect(UnitNotation.bytes(parsing: "64KiB") == 65_536)
  }

  @Test("Only a similar word is suggested")
  func suggestions() {
    #expect(EditDistance.nearest(to: "enforec", among: ["enforce", "observe"]) == "enforce")
    #expect(EditDistance.nearest(to: "redirect_uri", among: ["redirect_uris", "id"]) == "redirect_uris")
    #expect(EditDistance.nearest(to: "colour", among: ["origin", "issuer"]) == nil)
  }

  @Test(
    "A star in a pattern matches any characters",
    arguments: [
      ("a.yaml", "*.yaml", true), ("a.yml", "*.yaml", false), (".yaml", "*.yaml", true), ("a-b-c", "a*b*c", true),
      ("ac", "a*b*c", false), ("aa", "a*a", true), ("a", "a*a", false),
    ])
  func globs(_ name: String, _ pattern: String, _ expected: Bool) {
    #expect(PolicyReader.matches(name, pattern: pattern[...]) == expected)
  }

  @Test("Input is quoted on one line, truncated, and without control characters")
  func quoting() {
    #expect(quoted("a\u{1b}[31m\n`b`") == "`a\\u{1b}[31m\\u{a}'b'`")
    #expect(quoted(String(repeating: "x", count: 200)) == "`" + String(repeating: "x", count: 80) + "...`")
  }
}
