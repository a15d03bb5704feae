import Policy
import Testing

@testable import PolicyFile

/// The table of docs/servers.md, between `<!-- presets -->` and `<!-- end of presets -->`.
extension FormatTests {
  private static let begin = "<!-- presets -->\n"
  private static let end = "<!-- end of presets -->"

  @Test("The table of presets is equal to the presets; `make reference` writes it")
  func presets() throws {
    let text = try Self.text("docs/servers.md", Self.updating)
    #expect(text.contains(Self.begin + "| `kind` |"))
    #expect(Self.updating(text) == text)
  }

  @Test("A preset changes plain settings only, so that the manual shows all of its values", arguments: kinds)
  func plainRows(_ kind: String) throws {
    let preset = try #require(ServerPreset.named(kind))
    var rest = UpstreamSettings()
    for setting in UpstreamSettings.table.settings {
      if let value = setting.value(in: preset.settings) { setting.assign?(&rest, value) }
    }
    for setting in EndpointPaths.table.settings {
      if let value = setting.value(in: preset.settings.endpoints) { setting.assign?(&rest.endpoints, value) }
    }
    #expect("\(rest)" == "\(preset.settings)")
  }

  static let kinds = ServerPreset.all.map(\.kind)

  private static func updating(_ text: String) -> String {
    guard let start = text.firstRange(of: begin), let stop = text.firstRange(of: end) else { return text }
    return text[..<start.upperBound] + table + text[stop.lowerBound...]
  }

  private static var table: String {
    let rows = ServerPreset.all.map { preset in
      let settings =
        values(EndpointPaths.table, preset.settings.endpoints, prefix: "endpoints.")
        + values(UpstreamSettings.table, preset.settings)
      return "| `\(preset.kind)` | \(preset.server) | \(settings.joined(separator: "<br>")) | \(preset.errors) |\n"
    }
    return "| `kind` | server that was run | settings | refused authorization requests |\n|---|---|---|---|\n"
      + rows.joined()
  }

  /// The plain settings that differ from their defaults, and `authentication`.
  private static func values<Root>(_ table: SettingTable<Root>, _ root: Root, prefix: String = "") -> [String] {
    let defaults = table.defaults()
    return table.settings.compactMap { setting in
      guard let value = setting.value(in: root), value != setting.value(in: defaults) || setting.key == "authentication"
      else { return nil }
      let text =
        if case .texts(let paths) = value, let path = paths.first, paths.count == 1 { path } else {
          FormatText.text(value, setting.form)
        }
      return "`\(prefix)\(setting.key): \(text)`"
    }
  }
}
