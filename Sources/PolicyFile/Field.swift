import YAML

/// A setting of the file: its key, for messages, and its value.
struct Field {
  let name: String
  /// Where the key stands; the value itself for an item of a list.
  let key: YAMLNode
  let node: YAMLNode

  /// The items of a list, or the value itself.
  var items: [YAMLNode] { node.kind == .sequence ? Array(node.items) : [node] }

  /// The texts among the items.
  var texts: [String] { items.compactMap(\.text) }
}

/// Input as messages show it: on one line, without control characters, cut where it gets long.
func quoted(_ text: String) -> String {
  var shown = ""
  for (position, scalar) in text.unicodeScalars.enumerated() {
    guard position < 80 else { return "`\(shown)...`" }
    switch scalar.value {
    case 0..<0x20, 0x7f...0x9f, 0x200b...0x200f, 0x2028...0x202e, 0x2060...0x2069, 0xfeff:
      shown += "\\u{" + String(scalar.value, radix: 16) + "}"
    case 0x60:
      shown += "'"
    default:
      shown.unicodeScalars.append(scalar)
    }
  }
  return "`\(shown)`"
}

/// `a`, `b` or `c`, each in backticks.
func oneOf(_ words: [String]) -> String {
  let words = words.map { "`\($0)`" }
  guard let last = words.last, words.count > 1 else { return words.first ?? "" }
  return words.dropLast().joined(separator: ", ") + " or " + last
}

func article(_ kind: YAMLNode.Kind) -> String {
  switch kind {
  case .scalar: "text"
  case .sequence: "a list"
  case .mapping: "a mapping"
  }
}
