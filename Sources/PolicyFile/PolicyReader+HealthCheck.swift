import Policy
import Time
import YAML

extension HealthCheckSettings: SectionDraft {
  /// The parser of the mapping. In each function, `$0` is the policy reader, `$1` the field, and `$2` the draft.
  fileprivate static let section = Section<HealthCheckSettings>(
    table,
    [
      "path": { $2.path = $0.healthCheckPath($1) },
      "statuses": { $2.statuses = $0.healthyStatuses($1) },
    ])
}

extension PolicyReader {
  /// Reads `health_check:` of `upstream:`; `nil` for `off`.
  func healthCheck(_ field: Field) -> HealthCheckSettings? {
    if field.node.text == "off" { return nil }
    guard field.node.kind == .mapping else {
      error(.wrongType, field.node, "`health_check` must be `off` or a mapping such as `{ path: /health }`")
      return nil
    }
    var settings = HealthCheckSettings()
    guard let fields = read(field.node, HealthCheckSettings.section, into: &settings) else { return nil }
    requireSettings(of: HealthCheckSettings.section, in: fields, field.key, named: "`health_check`")
    if settings.timeout >= settings.interval, let place = fields.valid("timeout") ?? fields.valid("interval") {
      error(
        .conflict, place.node,
        "`timeout` \(UnitNotation.format(settings.timeout)) is not shorter than `interval` "
          + "\(UnitNotation.format(settings.interval)); make it shorter, so that a check ends before the next begins")
    }
    return settings
  }

  fileprivate func healthCheckPath(_ field: Field) -> String {
    guard let path = text(field) else { return "" }
    guard let problem = Self.pathProblem(path) else { return path }
    error(.invalidValue, field.node, "`path` cannot be \(quoted(path)); \(problem)")
    return ""
  }

  fileprivate func healthyStatuses(_ field: Field) -> [Int] {
    var statuses: [Int] = []
    for item in list(field, allowsSingleValue: true) {
      guard case .number(let status)? = value(item, .number(200...599)) else { continue }
      if statuses.contains(status) {
        error(.duplicateValue, item.node, "`\(status)` occurs twice in `statuses`; keep one")
      } else {
        statuses.append(status)
      }
    }
    reportEmpty(field)
    return statuses
  }
}
