import ByteText
import Testing

@Suite("Visible text")
struct VisibleTests {
  @Test("Every character is shown, except those that a terminal would interpret or not show")
  func allScalars() {
    let hidden: [Unicode.GeneralCategory] = [
      .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned,
    ]
    for value in UInt32(0)...0x10ffff {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let isHidden = hidden.contains(scalar.properties.generalCategory)
      if scalar.visible != (isHidden ? "\u{fffd}" : scalar) { Issue.record("U+\(String(value, radix: 16))") }
    }
  }

  @Test("A text has one line, a text for a terminal has its lines, and JSON keeps all characters as escapes")
  func texts() {
    let text = "a\u{1b}[2J\u{202e}b\n\tc\u{f0000}\u{e9}"
    #expect(text.visible == "a\u{fffd}[2J\u{fffd}b\u{fffd}\u{fffd}c\u{fffd}\u{e9}")
    #expect(text.visibleLines == "a\u{fffd}[2J\u{fffd}b\n\tc\u{fffd}\u{e9}")
    #expect(text.visibleJSON == "a\\u001b[2J\\u202eb\n\tc\\udb80\\udc00\u{e9}")
  }
}
