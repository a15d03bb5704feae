import YAML

/// A setting in the file: its key and its value.
struct Field {
  let name: String
  /// The node of the key. For an item of a list, this is the node of the item.
  let key: YAMLNode
  /// The node of the value.
  let node: YAMLNode

  /// The items of a list, or the value itself.
  var items: [YAMLNode] { node.kind == .sequence ? Array(node.items) : [node] }

  /// The items that are texts.
  var texts: [String] { items.compactMap(\.text) }
}

/// Returns input for a message, in backticks and on one line. Control characters and invisible characters are escaped,
/// backticks become apostrophes, and the text is cut after 80 characters.
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

/// Returns the words as `a`, `b` or `c`, each in backticks.
func oneOf(_ words: [String]) -> String {
  let words = words.map { "`\($0)`" }
  guard let last = words.last, words.count > 1 else { return words.first ?? "" }
  return words.dropLast().joined(separator: ", ") + " or " + last
}

/// Returns the name of a kind of value with its article, for messages.
func withArticle(_ kind: YAMLNode.Kind) -> String {
  switch kind {
  case .scalar: "text"
  case .sequence: "a list"
  case .mapping: "a mapping"
  }
}
