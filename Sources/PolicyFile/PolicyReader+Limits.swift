import Policy
import YAML

extension LimitSettings: SectionDraft {
  static let section = Section<LimitSettings>(table)
}

extension PolicyReader {
  /// Reads `limits:` of `gateway:`.
  func limits(_ field: Field) -> LimitSettings {
    var limits = LimitSettings()
    let fields = read(field.node, LimitSettings.section, into: &limits)
    // The request target is a part of the request head, so its limit must be lower. If the policy sets only
    // `header_bytes`, the default of `target_length` is lowered without an error.
    guard limits.targetLength >= limits.headerBytes else { return limits }
    if let field = fields?["target_length"] {
      error(
        .conflict, field.node,
        "`target_length` \(limits.targetLength) does not fit into `header_bytes` \(limits.headerBytes); make it shorter"
      )
    }
    limits.targetLength = limits.headerBytes / 2
    return limits
  }
}
