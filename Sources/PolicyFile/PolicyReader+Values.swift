import Policy
import Time
import YAML

extension PolicyReader {
  /// Returns the value of a plain setting: a setting whose value the parser can read with the form alone. If the value
  /// is invalid, reports it and returns `nil`.
  ///
  /// - Parameter word: A word that is also valid. Only for the message: the caller has already compared the value
  ///   with this word.
  func value(_ field: Field, _ form: SettingForm, or word: String? = nil) -> SettingValue? {
    switch form {
    case .flag: flag(field).map { .flag($0) }
    case .choice(let words): choice(field, among: words).map { .text($0) }
    case .choices(let words): choices(field, among: words).map { .texts($0) }
    case .number(let range): number(field, range, or: word).map { .number($0) }
    case .size(let range): size(field, range, or: word).map { .number($0) }
    case .duration(let range): duration(field, range).map { .duration($0) }
    case .seconds(let range, let advice): seconds(field, range, adviceIfTooLong: advice).map { .seconds($0) }
    case .date: date(field, or: word).map { .date($0.endsAt) }
    case .text: text(field).map { .text($0) }
    case .paths: .texts(paths(field))
    case .word(let word, let form): field.node.text == word ? .word : value(field, form, or: word)
    // Settings of these forms are not plain.
    case .list, .section, .mapping, .any, .constant: nil
    }
  }

  /// Reads a non-empty text on one line.
  func text(_ field: Field) -> String? {
    guard let text = field.node.text else {
      error(.wrongType, field.node, "`\(field.name)` must be text, not \(withArticle(field.node.kind))")
      return nil
    }
    guard !text.isEmpty else {
      error(.missingValue, field.node, "`\(field.name)` is empty; give a value or remove the key")
      return nil
    }
    guard !field.node.hasControlCharacters else {
      error(.invalidValue, field.node, "`\(field.name)` has a control character; write it on one line")
      return nil
    }
    return text
  }

  /// Reads one of the raw values of an enum.
  func choice<Value: RawRepresentable<String> & CaseIterable>(_ field: Field, _: Value.Type) -> Value? {
    choice(field, among: Value.allCases.map(\.rawValue)).flatMap(Value.init(rawValue:))
  }

  /// For each setting, the values of earlier versions of the format that `observe` has replaced.
  private static let formerValues: [String: Set<String>] = ["mode": ["report"], "unknown_clients": ["report", "pass"]]

  private func choice(_ field: Field, among known: [String]) -> String? {
    guard let text = text(field) else { return nil }
    if known.contains(text) { return text }
    if Self.formerValues[field.name]?.contains(text) ?? false {
      error(
        .invalidValue, field.node,
        "`\(field.name): \(text)` is no longer a value; use `\(field.name): observe`, which changes nothing on the "
          + "wire")
      return nil
    }
    let hint =
      if let near = EditDistance.nearest(to: text, among: known) { "did you mean `\(near)`?" } else {
        "use \(oneOf(known))"
      }
    error(.invalidValue, field.node, "`\(field.name)` cannot be \(quoted(text)); \(hint)")
    return nil
  }

  /// Reads a list of words, and reports a word that occurs twice. Returns `nil` if no item is valid.
  private func choices(_ field: Field, among known: [String]) -> [String]? {
    var words: [String] = []
    let items = list(field)
    for item in items {
      guard let word = choice(item, among: known) else { continue }
      if words.contains(word) {
        error(.duplicateValue, item.node, "`\(word)` occurs twice in `\(field.name)`; keep one")
      } else {
        words.append(word)
      }
    }
    reportEmpty(field)
    return words.isEmpty ? nil : words
  }

  /// Reports an empty list. Call it for a setting that requires at least one item.
  func reportEmpty(_ field: Field) {
    guard field.node.kind == .sequence, field.node.count == 0 else { return }
    error(.missingValue, field.node, "`\(field.name)` is empty; name at least one or remove the key")
  }

  func flag(_ field: Field) -> Bool? {
    guard let text = text(field) else { return nil }
    switch text {
    case "true": return true
    case "false": return false
    default:
      error(.invalidValue, field.node, "`\(field.name)` cannot be \(quoted(text)); use `true` or `false`")
      return nil
    }
  }

  private func number(_ field: Field, _ range: ClosedRange<Int>, or word: String? = nil) -> Int? {
    guard let text = text(field) else { return nil }
    if AddressText.isCanonicalNumber(text), let value = Int(text), range.contains(value) { return value }
    let alternative = word.map { ", or `\($0)`" } ?? ""
    error(
      .invalidValue, field.node,
      "`\(field.name)` cannot be \(quoted(text)); use a whole number from \(range.lowerBound) to "
        + "\(range.upperBound)\(alternative)")
    return nil
  }

  /// Reads a duration, such as `250ms`, `60s`, `10m` or `1h`.
  ///
  /// - Parameter advice: The end of the message about a duration above the upper bound; `nil` for the usual text, which
  ///   states the bounds.
  private func duration(
    _ field: Field, _ range: ClosedRange<Milliseconds>, adviceIfTooLong advice: String? = nil
  ) -> Milliseconds? {
    guard let text = text(field) else { return nil }
    guard let value = UnitNotation.milliseconds(parsing: text) else {
      error(
        .invalidValue, field.node,
        "`\(field.name)` cannot be \(quoted(text)); use a whole number and a unit, such as `250ms`, `60s`, `10m` or "
          + "`1h`")
      return nil
    }
    if let advice, value > range.upperBound {
      error(
        .exceededMaximum(of: field.name), field.node,
        "`\(field.name)` cannot be `\(UnitNotation.format(value))`; \(advice)")
      return nil
    }
    guard range.contains(value) else {
      error(
        .invalidValue, field.node,
        "`\(field.name)` cannot be \(quoted(text)); use \(UnitNotation.format(range.lowerBound)) to "
          + UnitNotation.format(range.upperBound))
      return nil
    }
    return value
  }

  /// Reads a duration that must be a whole number of seconds.
  private func seconds(_ field: Field, _ range: ClosedRange<Seconds>, adviceIfTooLong advice: String?) -> Seconds? {
    let bounds = Milliseconds(range.lowerBound)...Milliseconds(range.upperBound)
    guard let time = duration(field, bounds, adviceIfTooLong: advice) else { return nil }
    guard let seconds = Seconds(exactly: time) else {
      error(.invalidValue, field.node, "`\(field.name)` is counted in whole seconds; use a unit of `s`, `m` or `h`")
      return nil
    }
    return seconds
  }

  /// Reads a day in UTC, such as `2027-03-31`.
  private func date(_ field: Field, or word: String?) -> CalendarDate? {
    guard let text = text(field) else { return nil }
    if let date = CalendarDate(parsing: text) { return date }
    let alternative = word.map { ", or `\($0)`" } ?? ""
    error(
      .invalidValue, field.node,
      "`\(field.name)` cannot be \(quoted(text)); use a date such as `2027-03-31`\(alternative)")
    return nil
  }

  /// Reads a size, such as `2048`, `64KiB` or `1MiB`, and returns it in bytes.
  private func size(_ field: Field, _ range: ClosedRange<Int>, or word: String? = nil) -> Int? {
    guard let text = text(field) else { return nil }
    if let value = UnitNotation.bytes(parsing: text), range.contains(value) { return value }
    let alternative = word.map { ", or `\($0)`" } ?? ""
    error(
      .invalidValue, field.node,
      "`\(field.name)` cannot be \(quoted(text)); use \(range.lowerBound) to \(range.upperBound) bytes, such as `2048` "
        + "or `2KiB`\(alternative)")
    return nil
  }
}
