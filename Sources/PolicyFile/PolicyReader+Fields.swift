import YAML

extension PolicyReader {
  /// Reads a mapping key by key. Unknown keys and keys without a value are reported, and `body` sees the others in the
  /// order of the file.
  ///
  /// - Returns: whether the node is a mapping at all.
  @discardableResult
  func fields<Key: SectionKey>(
    _ node: YAMLNode, named name: String, _: Key.Type, _ body: (Key, Field) -> Void
  ) -> Bool {
    guard node.kind == .mapping else {
      error(.wrongType, node, "`\(name)` must be a mapping, not \(article(node.kind))")
      return false
    }
    for entry in node.entries {
      guard let text = entry.key.text else { continue }
      guard let key = Key(rawValue: text) else {
        unknown(text, entry.key, in: name, Key.self)
        continue
      }
      guard !entry.value.isEmpty else {
        error(.missingValue, entry.key, "`\(key.rawValue)` has no value; give one or remove the key")
        continue
      }
      body(key, Field(name: key.rawValue, key: entry.key, node: entry.value))
    }
    return true
  }

  /// The items of a list. A single value is taken for a list of one where the format says so.
  func list(_ field: Field, orSingle: Bool = false) -> [Field] {
    switch field.node.kind {
    case .sequence:
      var items: [Field] = []
      items.reserveCapacity(field.node.count)
      for item in field.node.items {
        guard !item.isEmpty else {
          error(.missingValue, item, "an item of `\(field.name)` has no value; give one or remove it")
          continue
        }
        items.append(Field(name: field.name, key: item, node: item))
      }
      return items
    case .scalar where orSingle:
      return [field]
    default:
      error(.wrongType, field.node, "`\(field.name)` must be a list, not \(article(field.node.kind))")
      return []
    }
  }

  func missing(_ key: some SectionKey, _ node: YAMLNode, in name: String, _ example: String) {
    guard !suggested.contains(key.rawValue) else { return }
    error(.missingKey, node, "\(name) has no `\(key.rawValue)`; add \(example)")
  }

  private func unknown<Key: SectionKey>(_ text: String, _ node: YAMLNode, in name: String, _: Key.Type) {
    let known = Key.allCases.map(\.rawValue)
    if let near = EditDistance.nearest(to: text, among: known) {
      suggested.insert(near)
      error(.unknownKey, node, "unknown key \(quoted(text)) in `\(name)`; did you mean `\(near)`?")
    } else if let section = ["policy", "gateway", "upstream", "enforcement"].first(where: { section in
      section != Key.section && PolicyFormat.sections[section]?.contains(text) ?? false
    }) {
      let place = section == "policy" ? "the top level" : "`\(section)`"
      error(.unknownKey, node, "unknown key \(quoted(text)) in `\(name)`; it belongs to \(place)")
    } else {
      error(.unknownKey, node, "unknown key \(quoted(text)) in `\(name)`; use \(oneOf(known))")
    }
  }
}
