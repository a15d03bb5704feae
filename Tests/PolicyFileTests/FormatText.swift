import Policy
import Time

@testable import PolicyFile

/// The manual's words for values and their bounds.
enum FormatText {
  static func values(_ form: SettingForm) -> String {
    switch form {
    case .flag: "`true`, `false`"
    case .choice(let words) where words.count > 8: "the words of the schema"
    case .choice(let words): words.map { "`\($0)`" }.joined(separator: ", ")
    case .choices(let words): "list of " + values(.choice(words))
    case .number(let range): "\(range.lowerBound) to \(range.upperBound)"
    case .size(let range): "`\(size(range.lowerBound))` to `\(size(range.upperBound))`"
    case .duration(let range):
      "`\(UnitNotation.format(range.lowerBound))` to `\(UnitNotation.format(range.upperBound))`"
    case .seconds(let range, _):
      "whole seconds, " + values(.duration(Milliseconds(range.lowerBound)...Milliseconds(range.upperBound)))
    case .date: "a date such as `2027-03-31`"
    case .text(let values, _, _): values
    case .paths: "path or list of paths"
    case .list(.section, _, _), .list(.any, _, _): "list of mappings"
    case .list(let item, _, _): "list of " + values(item)
    case .section("file"): "`{ file: PATH }`"
    case .section("secret"): "secret"
    case .section: "mapping"
    case .mapping(let keys, _, let form): "mapping of \(keys) to \(values(form))"
    case .word(let word, let form): "\(values(form)), or `\(word)`"
    case .any(let forms): forms.map(values).joined(separator: " or ")
    case .constant(let number): "`\(number)`"
    }
  }

  /// The text of a value in a policy file.
  static func text(_ value: SettingValue, _ form: SettingForm) -> String { SettingText.text(value, form) }

  private static func size(_ bytes: Int) -> String { SettingText.text(.number(bytes), .size(0...Int.max)) }
}

/// The tables of the manual, between `<!-- settings: NAME -->` and `<!-- end of settings -->`.
enum FormatManual {
  static let end = "<!-- end of settings -->"

  static func marker(_ table: PolicyFormat.Table) -> String { "<!-- settings: \(table.name) -->" }

  /// The manual with its tables replaced by those of the format.
  static func updating(_ manual: String) -> String {
    var lines: [Substring] = []
    var isTable = false
    for line in manual.split(separator: "\n", omittingEmptySubsequences: false) {
      if line == end { isTable = false }
      if !isTable { lines.append(line) }
      if let table = PolicyFormat.tables.first(where: { marker($0) == line }) {
        isTable = true
        lines += self.lines(table).map { $0[...] }
      }
    }
    return lines.joined(separator: "\n")
  }

  private static func lines(_ table: PolicyFormat.Table) -> [String] {
    var columns = ["key", "meaning", "values", "default"]
    if table.rows.contains(where: { !$0.notes.isEmpty }) { columns += ["reason for the default", "answer"] }
    // The rules of a client are those of `enforcement`.
    let rules = table.name == "client" ? EnforcementSettings.settings.map(\.key) : []
    let rows = table.rows.filter { !rules.contains($0.key) }
    return [line(columns), "|" + String(repeating: "---|", count: columns.count)] + rows.map { line(cells($0)) }
  }

  private static func cells(_ row: PolicyFormat.Row) -> [String] {
    let value = row.defaultValue.map { "`\(FormatText.text($0, row.form))`" }
    let standard = row.isRequired ? "required" : row.defaultText ?? value ?? "none"
    return ["`\(row.key)`", row.summary, FormatText.values(row.form), standard] + row.notes
  }

  private static func line(_ cells: [String]) -> String { "| " + cells.joined(separator: " | ") + " |" }
}
