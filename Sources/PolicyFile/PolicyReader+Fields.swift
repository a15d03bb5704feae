import Policy
import YAML

extension PolicyReader {
  /// Reads a mapping key by key in the order of the file. Reports unknown keys and keys without a value.
  ///
  /// - Parameter name: The name of the mapping in messages, if it is not the name of the section.
  /// - Returns: The settings that the mapping has; `nil` if the node is not a mapping.
  @discardableResult
  func read<Draft>(
    _ node: YAMLNode, _ section: Section<Draft>, named name: String? = nil, into draft: inout Draft
  ) -> Fields? {
    let name = name ?? section.name
    guard node.kind == .mapping else {
      error(.wrongType, node, "`\(name)` must be a mapping, not \(withArticle(node.kind))")
      return nil
    }
    var fields = Fields(section.keys, capacity: node.count)
    for entry in node.entries {
      guard let key = entry.key.text else { continue }
      guard let position = section.position(of: key) else {
        reportUnknown(key, entry.key, in: name, section.name, section.keys)
        continue
      }
      guard !entry.value.isEmpty else {
        error(.missingValue, entry.key, "`\(key)` has no value; give one or remove the key")
        continue
      }
      let field = Field(name: key, key: entry.key, node: entry.value)
      fields.append(field, isValid: section.read(position, field, by: self, into: &draft))
    }
    return fields
  }

  /// Reports each required setting that the mapping does not have.
  ///
  /// - Parameters:
  ///   - fields: The settings that the mapping has.
  ///   - node: The node at which a missing setting is reported.
  ///   - name: The name of the mapping in messages, with backticks or an article.
  ///   - exceptedKey: A required key that the caller checks itself.
  func requireSettings<Draft>(
    of section: Section<Draft>, in fields: Fields, _ node: YAMLNode, named name: String,
    except exceptedKey: String? = nil
  ) {
    for (key, advice) in section.requiredSettings where key != exceptedKey && fields[key] == nil {
      reportMissing(key, node, in: name, advice)
    }
  }

  /// Returns the items of a list. With `allowsSingleValue`, a scalar is returned as the only item.
  func list(_ field: Field, allowsSingleValue: Bool = false) -> [Field] {
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
    case .scalar where allowsSingleValue:
      return [field]
    default:
      error(.wrongType, field.node, "`\(field.name)` must be a list, not \(withArticle(field.node.kind))")
      return []
    }
  }

  /// Reports a missing key, unless the reader has already suggested this key in a message about an unknown key.
  ///
  /// - Parameter advice: The end of the message, after "add".
  func reportMissing(_ key: String, _ node: YAMLNode, in name: String, _ advice: String) {
    guard !suggestedKeys.contains(key) else { return }
    error(.missingKey, node, "\(name) has no `\(key)`; add \(advice)")
  }

  private func reportUnknown(_ key: String, _ node: YAMLNode, in name: String, _ section: String, _ known: [String]) {
    if let near = EditDistance.nearest(to: key, among: known) {
      suggestedKeys.insert(near)
      error(.unknownKey, node, "unknown key \(quoted(key)) in `\(name)`; did you mean `\(near)`?")
    } else if let other = PolicyFormat.searchedTables.first(where: { table in
      table.name != section && table.rows.contains { $0.key == key }
    }) {
      let owner = other.name == "policy" ? "the top level" : "`\(other.name)`"
      error(.unknownKey, node, "unknown key \(quoted(key)) in `\(name)`; it belongs to \(owner)")
    } else {
      error(.unknownKey, node, "unknown key \(quoted(key)) in `\(name)`; use \(oneOf(known))")
    }
  }
}
