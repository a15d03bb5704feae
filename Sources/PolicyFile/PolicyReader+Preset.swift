import Policy
import YAML

extension PolicyReader {
  /// Returns the preset that the `kind` of `upstream:` names; `nil` if there is no such preset. The preset is searched
  /// before the mapping is read, because its values are the defaults of the settings, and `kind` need not be the first.
  func preset(in node: YAMLNode) -> ServerPreset? {
    for entry in node.entries where entry.key.text == "kind" {
      return entry.value.text.flatMap(ServerPreset.named)
    }
    return nil
  }

  /// Reports a `kind` that has no preset.
  func checkKind(_ field: Field) {
    guard let kind = text(field), ServerPreset.named(kind) == nil else { return }
    let known = ServerPreset.all.map(\.kind)
    let near = EditDistance.nearest(to: kind, among: known).map { "did you mean `\($0)`? " } ?? ""
    error(
      .invalidValue, field.node,
      "`kind` cannot be \(quoted(kind)); \(near)use \(oneOf(known)), or remove it and write the `endpoints`; "
        + "docs/servers.md has examples for other servers")
  }
}
