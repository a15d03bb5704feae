import Testing

@testable import Gateway

@Suite("JSON of token responses")
struct JSONTests {
  @Test(
    "The reader gives the same result as Foundation",
    arguments: [
      "{}", "{ \"a\" : 1 }\n\t\r ", "{\"a\":-0}", "{\"a\":0}", "{\"a\":01}", "{\"a\":1.0}", "{\"a\":1e3}", "{\"a\":-}",
      "{\"a\":123456789012345678}", "{\"a\":9223372036854775807}", "{\"a\":9223372036854775808}", "{\"a\":0.1}",
      "{\"a\":true,\"a\":false}", "{\"e\u{301}\":1,\"\u{e9}\":2}", "{\"a\":[1,{\"b\":null}],\"c\":[]}", "{\"a\":1,}",
      "{\"a\":[1,]}", "{\"a\":\"\u{7f}\u{1f600}\"}", "{\"a\":\"\\\"\\u0041\"}", "{\"a\":\"x\u{1}\"}", "{\"a\":tru}",
      "{\"a\":truex}", "{\"a\":1} x", "{\"a\":1}\u{0}", "[1]", "\u{feff}{\"a\":1}", "{\"a\" 1}", "{\"a\":1 \"b\":2}",
      "{\"a\":{}}", "{a:1}", "", "{", "{\"", "{\"a\":\"", "{\"a\":12", "\"a\"", "{\"\":\"\"}",
    ])
  func reading(_ text: String) {
    let bytes = Array(text.utf8)
    #expect(JSONValue.members(of: bytes) == JSONValue.decoded(bytes))
  }

  @Test("Text that is not UTF-8 or is nested too deeply is refused")
  func refused() {
    #expect(JSONValue.members(of: Array("{\"a\":\"".utf8) + [0xff] + Array("\"}".utf8)) == nil)
    let deep = "{\"a\":" + String(repeating: "[", count: 600) + String(repeating: "]", count: 600) + "}"
    #expect(JSONValue.members(of: Array(deep.utf8)) == nil)
  }

  @Test("A common token response is read and written without Foundation")
  func common() {
    let text =
      "{\"access_token\":\"x.y\",\"expires_in\":3600,\"scope\":\"a b\",\"token_type\":\"Bearer\",\"x\":[true,null]}"
    let members = PlainJSON.members(of: text.utf8.span)
    #expect(members?["expires_in"] == .integer(3600))
    #expect(members.flatMap { PlainJSON.text(of: $0) } == Array(text.utf8))
  }

  @Test("The writer gives the same text as Foundation")
  func writing() {
    let members: [[String: JSONValue]] = [
      [:], ["a": .string("/\u{e9}\u{2028}")], ["a": .string("\"\\\n\u{7f}\u{1}")], ["a": .number(0.5)],
      ["b": .bool(true), "B": .bool(false), "a10": .null, "a2": .integer(-1), "\u{e9}": .array([]), "z": .object([:])],
      ["\"": .integer(Int64.min)],
    ]
    for each in members { #expect(JSONValue.text(of: each) == JSONValue.encoded(each)) }
  }
}
