import JSON
import Testing

@Suite("JSON")
struct JSONTests {
  @Test(
    "Every kind of value is read",
    arguments: [
      ("{}", [:]), ("{ \"a\" : 1 }\n\t\r ", ["a": .integer(1)]), ("{\"a\":-0}", ["a": .integer(0)]),
      ("{\"a\":1.0}", ["a": .integer(1)]), ("{\"a\":1e3}", ["a": .integer(1_000)]),
      ("{\"a\":0.1}", ["a": .number(0.1)]), ("{\"a\":-1.5E-2}", ["a": .number(-0.015)]),
      ("{\"a\":9223372036854775807}", ["a": .integer(Int64.max)]),
      ("{\"a\":9223372036854775808}", ["a": .number(9_223_372_036_854_775_808)]),
      ("{\"a\":[1,{\"b\":null}],\"c\":[]}", ["a": .array([.integer(1), .object(["b": .null])]), "c": .array([])]),
      ("{\"a\":\"\u{7f}\u{1f600}\"}", ["a": .string("\u{7f}\u{1f600}")]),
      ("\u{feff}{\"a\":{}}", ["a": .object([:])]), ("{\"\":\"\"}", ["": .string("")]),
      ("{\"a\":true,\"b\":false}", ["a": .bool(true), "b": .bool(false)]),
    ] as [(String, [String: JSONValue])])
  func reading(_ text: String, _ members: [String: JSONValue]) {
    #expect(JSONValue.members(of: Array(text.utf8)) == members)
  }

  @Test(
    "Malformed text is refused",
    arguments: [
      "{\"a\":01}", "{\"a\":-}", "{\"a\":1.}", "{\"a\":.5}", "{\"a\":1e}", "{\"a\":+1}", "{\"a\":1e999}", "{\"a\":0x1}",
      "{\"a\":tru}", "{\"a\":truex}", "{\"a\":1} x", "{\"a\":1}\u{0}", "[1]", "{\"a\" 1}", "{\"a\":1 \"b\":2}", "{a:1}",
      "{\"a\":\"x\u{1}\"}", "", "{", "{\"", "{\"a\":\"", "{\"a\":12", "\"a\"", "{\"a\":\"\\", "{,}", "{\"a\":'b'}",
    ])
  func malformed(_ text: String) {
    #expect(JSONValue.members(of: Array(text.utf8)) == nil)
  }

  @Test("A comma behind the last item is refused, as RFC 8259 demands", arguments: ["{\"a\":1,}", "{\"a\":[1,]}"])
  func comma(_ text: String) {
    #expect(JSONValue.members(of: Array(text.utf8)) == nil)
  }

  @Test("Escapes and surrogate pairs are read; half a pair is refused")
  func escapes() {
    func value(_ text: String) -> String? { JSONValue.members(of: Array("{\"a\":\"\(text)\"}".utf8))?["a"]?.text }
    #expect(value(#"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00"#) == "\"\\/\u{8}\u{c}\n\r\t\u{e9}\u{1f600}")
    for text in [#"\ud83d"#, #"\ude00"#, #"\ud83dx"#, #"\ud83d\u0041"#, #"\u12"#, #"\u+123"#, #"\x"#] {
      #expect(value(text) == nil, "\(text)")
    }
  }

  @Test("If several members have the same name, the first counts, or the text is refused")
  func duplicates() {
    let bytes = Array(#"{"a":1,"b":{"c":1,"\u0063":2}}"#.utf8)
    #expect(JSONValue.members(of: bytes)?["b"] == .object(["c": .integer(1)]))
    #expect(JSONValue.members(of: bytes, .strict) == nil)
  }

  @Test(
    "Text that readers could read differently is refused",
    arguments: [
      #"{"a":1,"a":2}"#, #"{"a":"\ud800"}"#, #"{"a":"\x"}"#, "{\"a\":\"\u{1}\"}", #"{"a":01}"#, #"{"a":.5}"#,
      #"{"a":1,}"#, #"{'a':1}"#, #"{"a":NaN}"#, #"{"a":[1,]}"#, #"{"a":"#,
      "{\"a\":" + String(repeating: "[", count: 40) + String(repeating: "]", count: 40) + "}",
    ])
  func strictness(_ text: String) {
    #expect(JSONValue.members(of: Array(text.utf8), .strict) == nil)
  }

  @Test("A text whose values need much more memory than itself is refused; 600 names of groups are read")
  func memory() {
    func members(
      _ unit: String, _ count: Int, _ start: String = "{\"a\":[", _ end: String = "0]}"
    ) -> [String: JSONValue]? {
      JSONValue.members(of: Array((start + String(repeating: unit, count: count) + end).utf8))
    }
    #expect(members("{\"\":0},", 2_000) == nil)
    #expect(members("0,", 20_000) == nil)
    #expect(members("[],", 10_000) == nil)
    #expect(members("\"group-\(String(repeating: "x", count: 24))\",", 600) != nil)
    #expect(members("\"group-\(String(repeating: "x", count: 24))\",", 1_800) == nil)
    #expect(members("a", 32_000, "{\"a\":\"", "\"}") != nil)
    #expect(members("a", 33_000, "{\"a\":\"", "\"}") == nil)
    #expect(members(" ", 128 * 1024, "{", "}") == nil)
    // A comma in a string begins no value.
    #expect(members(",", 30_000, "{\"a\":\"", "\"}") != nil)
    #expect(members("\\\",", 10_000, "{\"a\":\"", "\"}") != nil)
  }

  @Test("Names outside ASCII have at most 1,024 bytes in a long text")
  func names() {
    func text(_ name: String, _ count: Int) -> [UInt8] {
      let pairs = (0..<count).map { "\"\(name)\($0)\":1" }
      return Array("{\"a\":\"\(String(repeating: "é", count: 2_000))\",\(pairs.joined(separator: ","))}".utf8)
    }
    #expect(JSONValue.members(of: text("é", 100)) != nil)
    #expect(JSONValue.members(of: text("éééééé", 100)) == nil)
    #expect(JSONValue.members(of: text("\\u00e9", 200)) == nil)
    #expect(JSONValue.members(of: text("eeeeee", 100)) != nil)
  }

  @Test("Each character of a string is written so that it is read again")
  func roundTrip() {
    let all = String(String.UnicodeScalarView((0..<0x180).compactMap(Unicode.Scalar.init))) + "a\\\"\\\\b\u{1f600}"
    let bytes = JSONValue.text(of: ["a": .string(all), "b": .string("")])
    #expect(JSONValue.members(of: bytes) == ["a": .string(all), "b": .string("")])
    #expect(bytes.allSatisfy { $0 >= 0x20 })
  }

  @Test("The strict reader refuses bytes that are not UTF-8; the lenient one replaces them in names and texts")
  func invalidUTF8() {
    let texts: [[UInt8]] = [
      Array(#"{""#.utf8) + [0xff] + Array(#"":1}"#.utf8), Array(#"{"a":"\n"#.utf8) + [0xc3] + Array(#""}"#.utf8),
      Array(#"{"a":["#.utf8) + Array(#"""#.utf8) + [0xf6, 0x80] + Array(#""]}"#.utf8),
    ]
    for text in texts { #expect(JSONValue.members(of: text, .strict) == nil) }
    #expect(JSONValue.members(of: texts[0]) == ["\u{fffd}": .integer(1)])
    #expect(JSONValue.members(of: texts[1]) == ["a": .string("\n\u{fffd}")])
    #expect(JSONValue.members(of: texts[2])?.keys.sorted() == ["a"])
  }

  @Test("A long text that is not UTF-8 is read if it has few bytes outside ASCII")
  func longInvalidUTF8() {
    func text(_ unit: [UInt8], _ count: Int) -> [UInt8] {
      Array("{\"a\":\"".utf8) + [UInt8](repeating: 0x61, count: 3_000)
        + (0..<count).flatMap { _ in unit } + Array("\"}".utf8)
    }
    #expect(JSONValue.members(of: text([0xff], 1_000))?["a"]?.text?.utf8.count == 6_000)
    #expect(JSONValue.members(of: text([0xff], 1_100)) == nil)
    #expect(JSONValue.members(of: text([0x61, 0xe4], 1_100)) == nil)
    #expect(JSONValue.members(of: text([0xc3, 0xa4], 4_000)) != nil)
  }

  @Test("Bytes that are not UTF-8 behind the object are refused", arguments: [JSONReader.Strictness.lenient, .strict])
  func bytesBehind(strictness: JSONReader.Strictness) {
    #expect(JSONValue.members(of: [0x7b, 0x22, 0x61, 0x22, 0x3a, 0x31, 0x7d, 0xff], strictness) == nil)
    let wide = Array("{\"a\":1}".utf16)
    #expect(JSONValue.members(of: wide.flatMap { [UInt8(truncatingIfNeeded: $0), 0] }, strictness) == nil)
  }

  @Test("A strict reader refuses a byte order mark")
  func byteOrderMark() {
    let text = Array("{\"a\":1}".utf8)
    #expect(JSONValue.members(of: [0xef, 0xbb, 0xbf] + text, .strict) == nil)
    #expect(JSONValue.members(of: text, .strict) == ["a": .integer(1)])
  }

  @Test("A common token response is read and written unchanged")
  func common() {
    let text =
      "{\"access_token\":\"x.y\",\"expires_in\":3600,\"scope\":\"a b\",\"token_type\":\"Bearer\",\"x\":[true,null]}"
    let members = JSONValue.members(of: Array(text.utf8))
    #expect(members?["expires_in"] == .integer(3600))
    #expect(members.map { JSONValue.text(of: $0) } == Array(text.utf8))
  }

  @Test("Members are written in the order of the bytes of their names, with escapes only where they are needed")
  func writing() {
    let members: [([String: JSONValue], String)] = [
      ([:], "{}"), (["a": .string("/\u{e9}\u{2028}\u{7f}")], "{\"a\":\"/\u{e9}\u{2028}\u{7f}\"}"),
      (["a": .string("\"\\\n\u{1}\u{1f}")], #"{"a":"\"\\\n\u0001\u001f"}"#),
      (["a": .number(0.5), "b": .number(1e20)], "{\"a\":0.5,\"b\":1e+20}"),
      (
        [
          "b": .bool(true), "B": .bool(false), "a10": .null, "a2": .integer(-1), "\u{e9}": .array([]),
          "z": .object([:]),
        ],
        "{\"B\":false,\"a10\":null,\"a2\":-1,\"b\":true,\"z\":{},\"\u{e9}\":[]}"
      ),
      (["\"": .integer(Int64.min)], #"{"\"":-9223372036854775808}"#),
    ]
    for (value, text) in members {
      #expect(JSONValue.text(of: value) == Array(text.utf8))
      #expect(JSONValue.members(of: Array(text.utf8)) == value)
    }
  }
}
