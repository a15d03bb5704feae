import Policy

@testable import PolicyFile

/// The JSON Schema of the format, written from its tables.
enum FormatSchema {
  static let text = JSON.object(root).text + "\n"

  private static var root: [(String, JSON)] {
    let tables = PolicyFormat.tables
    let head: [(String, JSON)] = [
      ("$schema", .string("https://json-schema.org/draft/2020-12/schema")),
      ("title", .string("Proofgate policy, version 1")),
    ]
    guard let file = tables.first else { return head }
    return head + mapping(file) + [("$defs", .object(tables.dropFirst().map { ($0.name, .object(mapping($0))) }))]
  }

  private static func mapping(_ table: PolicyFormat.Table) -> [(String, JSON)] {
    var members: [(String, JSON)] = [
      ("description", .string(table.summary)), ("type", "object"), ("additionalProperties", .bool(false)),
      ("properties", .object(table.rows.map { ($0.key, .object(property($0))) })),
    ]
    let required = table.rows.filter(\.isRequired).map { JSON.string($0.key) }
    if !required.isEmpty { members.append(("required", .array(required))) }
    if !table.alternativeRequiredKeys.isEmpty {
      members.append(
        ("anyOf", .array(table.alternativeRequiredKeys.map { .object([("required", .array($0.map { .string($0) }))]) }))
      )
    }
    if table.requiresExactlyOneKey { members += [("minProperties", .number(1)), ("maxProperties", .number(1))] }
    return members
  }

  private static func property(_ row: PolicyFormat.Row) -> [(String, JSON)] {
    var sentences = [plain(row.summary)]
    if let bounds = bounds(row.form) { sentences.append("Values: \(bounds)") }
    if let answer = row.notes.last { sentences.append("Beyond it: \(answer)") }
    if let standard = row.defaultText, !row.isRequired { sentences.append("Default: \(standard)") }
    var members: [(String, JSON)] = [("description", .string(sentences.joined(separator: ". ") + "."))]
    members += schema(row.form)
    if row.defaultText == nil, !row.isRequired, let value = row.defaultValue {
      members.append(("default", json(value, row.form)))
    }
    return members
  }

  /// The bounds of a form that the schema's keywords do not express; nil if there are no others.
  private static func bounds(_ form: SettingForm) -> String? {
    switch form {
    case .size, .duration, .seconds: FormatText.values(form)
    case .text(let values, _, _): values == "text" ? nil : values
    case .word(_, let inner), .list(let inner, _, _): bounds(inner)
    case .flag, .choice, .choices, .number, .date, .paths, .section, .mapping, .any, .constant: nil
    }
  }

  /// The text of a sentence without its links.
  private static func plain(_ text: String) -> String {
    var rest = text[...]
    var plain = ""
    while let middle = rest.firstRange(of: "]("), let start = rest[..<middle.lowerBound].lastIndex(of: "["),
      let end = rest[middle.upperBound...].firstIndex(of: ")")
    {
      plain += rest[..<start] + rest[rest.index(after: start)..<middle.lowerBound]
      rest = rest[rest.index(after: end)...]
    }
    return plain + rest
  }

  private static func schema(_ form: SettingForm) -> [(String, JSON)] {
    switch form {
    case .flag: [("type", "boolean")]
    case .choice(let words): choice(words)
    case .choices(let words): schema(.list(.choice(words), minimumCount: 1))
    case .number(let range): integer(range)
    case .size(let range):
      anyOf([integer(range), schema(.text(pattern: "^[1-9][0-9]*(B|KiB|MiB|GiB)$"))])
    case .duration, .seconds: schema(.text(pattern: "^(0|[1-9][0-9]*)(ms|s|m|h)$"))
    case .date: schema(.text(pattern: "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$"))
    case .text(_, let pattern, let maximumLength): text(pattern, maximumLength)
    case .paths: schema(.list(.text(pattern: "^/[A-Za-z0-9/._~!$&'()*+,=:@-]*$"), allowsSingleValue: true))
    case .list(let item, let allowsSingleValue, let minimumCount):
      list(item, allowsSingleValue: allowsSingleValue, minimumCount: minimumCount)
    case .section(let name): [("$ref", .string("#/$defs/\(name)"))]
    case .mapping(_, let pattern, let form):
      [
        ("type", "object"), ("propertyNames", .object([("pattern", .string(pattern))])),
        ("additionalProperties", .object(schema(form))),
      ]
    case .word(let word, let form): anyOf([[("const", .string(word))], schema(form)])
    case .any(let forms): anyOf(forms.map(schema))
    case .constant(let number): [("const", .number(number))]
    }
  }

  /// YAML parses `1.2` as a number, so a word that looks like a number may be either.
  private static func choice(_ words: [String]) -> [(String, JSON)] {
    let strings: [(String, JSON)] = [("enum", .array(words.map { .string($0) }))]
    guard words.allSatisfy({ Double($0) != nil }) else { return strings }
    return anyOf([strings, [("enum", .array(words.map { .decimal($0) }))]])
  }

  private static func integer(_ range: ClosedRange<Int>) -> [(String, JSON)] {
    [("type", "integer"), ("minimum", .number(range.lowerBound)), ("maximum", .number(range.upperBound))]
  }

  private static func text(_ pattern: String?, _ maximumLength: Int?) -> [(String, JSON)] {
    var members: [(String, JSON)] = [("type", "string")]
    if let maximumLength { members.append(("maxLength", .number(maximumLength))) }
    return members + [pattern.map { ("pattern", .string($0)) } ?? ("minLength", .number(1))]
  }

  private static func list(_ item: SettingForm, allowsSingleValue: Bool, minimumCount: Int) -> [(String, JSON)] {
    var list: [(String, JSON)] = [("type", "array"), ("items", .object(schema(item)))]
    switch item {
    case .section, .any: break
    default: list.append(("uniqueItems", .bool(true)))
    }
    if minimumCount > 0 { list.append(("minItems", .number(minimumCount))) }
    return allowsSingleValue ? anyOf([schema(item), list]) : list
  }

  private static func anyOf(_ schemas: [[(String, JSON)]]) -> [(String, JSON)] {
    [("anyOf", .array(schemas.map { .object($0) }))]
  }

  private static func json(_ value: SettingValue, _ form: SettingForm) -> JSON {
    switch value {
    case .flag(let flag): .bool(flag)
    case .texts(let texts): .array(texts.map { .string($0) })
    case .number, .duration, .seconds, .date, .text, .word:
      // A number without a unit.
      Int(FormatText.text(value, form)).map { .number($0) } ?? .string(FormatText.text(value, form))
    }
  }
}

/// A JSON value whose members keep their order.
indirect enum JSON: ExpressibleByStringLiteral {
  case object([(String, JSON)])
  case array([JSON])
  case string(String)
  case number(Int)
  case decimal(String)
  case bool(Bool)

  init(stringLiteral value: String) { self = .string(value) }

  var text: String { lines.joined(separator: "\n") }

  private var lines: [String] {
    switch self {
    case .object(let members): Self.block("{", members.map { Self.quoted($0.0) + ": " }, members.map(\.1), "}")
    case .array(let items): Self.block("[", items.map { _ in "" }, items, "]")
    case .string(let text): [Self.quoted(text)]
    case .number(let number): ["\(number)"]
    case .decimal(let digits): [digits]
    case .bool(let flag): [flag ? "true" : "false"]
    }
  }

  private static func block(_ open: String, _ labels: [String], _ values: [JSON], _ close: String) -> [String] {
    guard !values.isEmpty else { return [open + close] }
    var lines = [open]
    for (position, value) in values.enumerated() {
      var part = value.lines
      part[0] = labels[position] + part[0]
      if position < values.count - 1 { part[part.count - 1] += "," }
      lines += part.map { "  " + $0 }
    }
    return lines + [close]
  }

  private static func quoted(_ text: String) -> String {
    "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
  }
}
