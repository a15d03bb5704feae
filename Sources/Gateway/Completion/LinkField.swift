/// Parses `Link` fields. A field contains targets in angle brackets, each with parameters (RFC 8288, section 3).
/// Browsers request some targets without an action of the user, for example those with `rel=prefetch`.
enum LinkField {
  /// Returns the targets. If a closing bracket is missing, the rest of the field is the last target.
  static func targets(of field: String) -> [String] {
    var targets: [String] = []
    var rest = Substring(field).utf8[...]
    while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
      let target = rest[rest.index(after: start)...].prefix { $0 != UInt8(ascii: ">") }
      targets.append(String(decoding: target, as: UTF8.self))
      rest = rest[target.endIndex...]
    }
    return targets
  }
}
