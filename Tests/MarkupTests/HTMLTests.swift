import Markup
import Testing

@Suite("HTML escapes by construction (I-pages)")
struct HTMLTests {
  @Test("Interpolated text cannot open a tag, end an attribute or start a character reference")
  func escapes() {
    let value = #"<script>alert("1")</script> & 'x'"#
    let html: HTML = "<a title=\"\(value)\">\(value)</a>"
    let escaped = "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &#39;x&#39;"
    #expect(html.text == "<a title=\"\(escaped)\">\(escaped)</a>")
  }

  @Test("Long pieces, short ones and escapes are in the markup in their order")
  func pieces() {
    let long = String(repeating: "a", count: 5_000)
    let marked = String(repeating: "<", count: 1_000)
    let inner: HTML = "<p>\(long)</p>\(marked)\(7)"
    let html: HTML = "<b>\([inner, inner])</b>\(long)\(inner)<i>"
    let text = "<p>\(long)</p>\(String(repeating: "&lt;", count: 1_000))7"
    #expect(html.text == "<b>\(text)\(text)</b>\(long)\(text)<i>")
    #expect(html.utf8 == Array(html.text.utf8))
  }

  @Test("Nested markup is not escaped again, and a missing piece adds nothing")
  func nests() {
    let inner: HTML = "<b>\("a<b")</b>"
    let missing: HTML? = nil
    let html: HTML = "<p>\(inner)\([inner, inner])\(missing)\(7)</p>"
    #expect(html.text == "<p><b>a&lt;b</b><b>a&lt;b</b><b>a&lt;b</b>7</p>")
  }

  @Test(
    "A URL that could run a script is replaced",
    arguments: [
      "javascript:alert(1)", "JavaScript:alert(1)", " javascript:alert(1)", "java\nscript:alert(1)",
      "\u{1}javascript:x",
      "data:text/html,<script>", "vbscript:x", "blob:https://a/b",
    ])
  func activeURLs(url: String) {
    let html: HTML = "<a href=\"\(url: url)\">x</a>"
    #expect(html.text == "<a href=\"#\">x</a>")
  }

  @Test(
    "URLs of apps and sites are kept and escaped",
    arguments: [
      ("com.example.mail:/cb?a=1&b=2", "com.example.mail:/cb?a=1&amp;b=2"),
      ("https://app.example.com/\"><script>", "https://app.example.com/&quot;&gt;&lt;script&gt;"),
      ("/authorize?x=javascript:1", "/authorize?x=javascript:1"),
    ])
  func otherURLs(url: String, expected: String) {
    let html: HTML = "<a href=\"\(url: url)\">x</a>"
    #expect(html.text == "<a href=\"\(expected)\">x</a>")
  }

  @Test("Control characters are replaced, and line breaks survive a form")
  func controls() {
    let html: HTML = "\("a\0b\u{1b}c\r\nd\te\u{85}")"
    #expect(html.text == "a\u{fffd}b\u{fffd}c&#13;&#10;d\te\u{fffd}")
  }

  @Test("Each character is escaped by itself, whatever is in front of it and behind it")
  func characters() {
    let escapes: [Unicode.Scalar: String] = [
      "&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;", "'": "&#39;", "\r": "&#13;", "\n": "&#10;",
    ]
    for scalar in (0...0x2fff).compactMap(Unicode.Scalar.init) + ["\u{fffd}", "😀", "\u{10ffff}"] {
      let isControl = scalar.properties.generalCategory == .control && !"\t\u{c}".unicodeScalars.contains(scalar)
      let expected = escapes[scalar] ?? (isControl ? "\u{fffd}" : String(scalar))
      let html: HTML = "\("\u{c2}e\u{301}" + String(scalar) + "\u{301}¢")"
      #expect(html.text.utf8.elementsEqual("\u{c2}e\u{301}\(expected)\u{301}¢".utf8), "\(scalar.value)")
    }
  }

  @Test("Invisible and bidirectional characters in a name are shown as U+FFFD")
  func bidirectional() {
    let html: HTML = "\(visible: "mail\u{202e}moc\u{200b}.\u{2028}x")"
    #expect(html.text == "mail\u{fffd}moc\u{fffd}.\u{fffd}x")
    let hebrew: HTML = "\(visible: "דואר é 日本")"
    #expect(hebrew.text == "דואר é 日本")
  }
}
