import YAML

extension PolicyReader {
  /// Non-empty text on one line.
  func text(_ field: Field) -> String? {
    guard let text = field.node.text else {
      error(.wrongType, field.node, "`\(field.name)` must be text, not \(article(field.node.kind))")
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

  /// One of the raw values of an enum.
  func choice<Value: RawRepresentable<String> & CaseIterable>(_ field: Field, _: Value.Type) -> Value? {
    guard let text = text(field) else { return nil }
    if let value = Value(rawValue: text) { return value }
    let known = Value.allCases.map(\.rawValue)
    let hint =
      if let near = EditDistance.nearest(to: text, among: known) { "did you mean `\(near)`?" } else {
        "use \(oneOf(known))"
      }
    error(.invalidValue, field.node, "`\(field.name)` cannot be \(quoted(text)); \(hint)")
    return nil
  }

  /// A list of raw values of an enum, each once; `nil` when nothing usable is in it.
  func choices<Value: RawRepresentable<String> & CaseIterable & Hashable>(
    _ field: Field, _ type: Value.Type
  ) -> Set<Value>? {
    var values: Set<Value> = []
    let items = list(field)
    for item in items {
      guard let value = choice(item, type) else { continue }
      if !values.insert(value).inserted {
        error(.duplicateValue, item.node, "`\(value.rawValue)` occurs twice in `\(field.name)`; keep one")
      }
    }
    if items.isEmpty, field.node.kind == .sequence {
      error(.missingValue, field.node, "`\(field.name)` is empty; name at least one or remove the key")
    }
    return values.isEmpty ? nil : values
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

  func number(_ field: Field, _ range: ClosedRange<Int>, or word: String? = nil) -> Int? {
    guard let text = text(field) else { return nil }
    if AddressText.isCanonicalNumber(text), let value = Int(text), range.contains(value) { return value }
    let alternative = word.map { ", or `\($0)`" } ?? ""
    error(
      .invalidValue, field.node,
      "`\(field.name)` cannot be \(quoted(text)); use a whole number from \(range.lowerBound) to "
        + "\(range.upperBound)\(alternative)")
    return nil
  }

  /// A duration in milliseconds: `250ms`, `60s`, `10m`, `1h`.
  func duration(_ field: Field, _ range: ClosedRange<Int>) -> Int? {
    guard let text = text(field) else { return nil }
    guard let value = Quantity.milliseconds(text) else {
      error(
        .invalidValue, field.node,
        "`\(field.name)` cannot be \(quoted(text)); use a whole number and a unit, such as `250ms`, `60s`, `10m` or "
          + "`1h`")
      return nil
    }
    guard range.contains(value) else {
      error(
        .invalidValue, field.node,
        "`\(field.name)` cannot be \(quoted(text)); use \(Quantity.duration(range.lowerBound)) to "
          + Quantity.duration(range.upperBound))
      return nil
    }
    return value
  }

  /// A day in UTC: `2027-03-31`.
  func date(_ field: Field) -> CalendarDate? {
    guard let text = text(field) else { return nil }
    if let date = CalendarDate(parsing: text) { return date }
    error(
      .invalidValue, field.node, "`\(field.name)` cannot be \(quoted(text)); use a date such as `2027-03-31`")
    return nil
  }

  /// A size in bytes: `2048`, `64KiB`, `1MiB`.
  func size(_ field: Field, _ range: ClosedRange<Int>, or word: String? = nil) -> Int? {
    guard let text = text(field) else { return nil }
    if let value = Quantity.bytes(text), range.contains(value) { return value }
    let alternative = word.map { ", or `\($0)`" } ?? ""
    error(
      .invalidValue, field.node,
      "`\(field.name)` cannot be \(quoted(text)); use \(range.lowerBound) to \(range.upperBound) bytes, such as `2048` "
        + "or `2KiB`\(alternative)")
    return nil
  }
}
