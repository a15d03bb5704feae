import Policy
import Time

/// The text of a value as a policy file has it.
enum SettingText {
  static func text(_ value: SettingValue, _ form: SettingForm) -> String {
    switch (value, form) {
    case (.flag(let flag), _): flag ? "true" : "false"
    case (.number(0), .word(let word, _)), (.word, .word(let word, _)): word
    case (.number, .word(_, let form)): text(value, form)
    case (.number(let number), .size): size(number)
    case (.number(let number), _): "\(number)"
    case (.duration(let time), _): UnitNotation.format(time)
    case (.seconds(let time), _): UnitNotation.format(Milliseconds(time))
    // The value is the end of the day.
    case (.date(let end), _): String(UnixTime(seconds: end.seconds - 1).text.prefix(10))
    case (.text(let text), _): text
    case (.texts(let texts), _): "[" + texts.joined(separator: ", ") + "]"
    case (.word, _): ""
    }
  }

  private static func size(_ bytes: Int) -> String {
    for (unit, factor) in [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)]
    where bytes > 0 && bytes.isMultiple(of: factor) {
      return "\(bytes / factor)\(unit)"
    }
    return "\(bytes)"
  }
}
