import FoundationEssentials
import OAuth
import Policy
import Testing

@testable import PolicyFile

@Suite("The tables of the policy format")
struct FormatTests {
  private static let root = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()
  /// True for `make reference`, which writes the texts that the tests compare.
  private static let writes = ProcessInfo.processInfo.environment["PROOFGATE_WRITE_REFERENCE"] != nil

  /// Returns the text of a file of the repository, after writing it if `make reference` runs.
  static func text(_ path: String, _ update: (String) -> String) throws -> String {
    let url = URL(fileURLWithPath: root + "/" + path)
    let text = String(decoding: try Data(contentsOf: url), as: UTF8.self)
    guard writes else { return text }
    try Data(update(text).utf8).write(to: url)
    return update(text)
  }

  @Test("The JSON Schema is equal to the one from the tables; `make reference` writes it")
  func schema() throws {
    let path = "policies/proofgate.schema.json"
    let shipped = try Self.text(path) { _ in FormatSchema.text }.split(separator: "\n")
    let expected = FormatSchema.text.split(separator: "\n")
    let difference = zip(shipped, expected).first { $0 != $1 }
    #expect(difference == nil && shipped.count == expected.count, "\(path): \(difference.map { "\($0)" } ?? "length")")
  }

  @Test("The tables of the manual are equal to those of the format; `make reference` writes them")
  func manual() throws {
    let text = try Self.text("docs/policy.md", FormatManual.updating)
    let difference = zip(text.split(separator: "\n"), FormatManual.updating(text).split(separator: "\n"))
      .first { $0 != $1 }
    #expect(difference == nil && FormatManual.updating(text) == text, "\(difference.map { "\($0)" } ?? "length")")
    for table in PolicyFormat.tables {
      #expect(text.contains(FormatManual.marker(table) + "\n| key |"), "\(table.name)")
    }
  }

  @Test("Each mapping of a setting is a table, and each table is the mapping of a setting")
  func references() {
    func names(_ form: SettingForm) -> [String] {
      switch form {
      case .section(let name): [name]
      case .list(let form, _, _), .word(_, let form), .mapping(_, _, let form): names(form)
      case .any(let forms): forms.flatMap(names)
      case .flag, .choice, .choices, .number, .size, .duration, .seconds, .date, .text, .paths, .constant: []
      }
    }
    let references = PolicyFormat.tables.flatMap { table in table.rows.flatMap { names($0.form) } }
    // Included files are not the value of a setting, and the first table is the file.
    #expect(Set(references + ["policy", "included_file"]) == Set(PolicyFormat.tables.map(\.name)))
    for table in PolicyFormat.tables { #expect(Set(table.rows.map(\.key)).count == table.rows.count, "\(table.name)") }
  }

  @Test("Each plain setting accepts each kind of value of its form, and the policy has the value")
  func arrival() throws {
    for sample in try FormatSamples.all.get() {
      #expect(sample.arrives, "\(sample.name): \(sample.findings)")
    }
  }

  @Test("Each property of the settings has a row that changes it")
  func properties() throws {
    var policies = try FormatSamples.all.get().compactMap(\.policy)
    policies.append(try #require(try PolicyValuesTests.load(PolicyValuesTests.complete).policy))
    policies.append(try #require(try PolicyValuesTests.load(PolicyValuesTests.onUnixSocket).policy))
    policies.append(try #require(try PolicyValuesTests.load(PolicyValuesTests.withSeveralServers("none")).policy))
    policies.append(try #require(try PolicyValuesTests.load(FindingCase.base + RouteFindings.complete).policy))
    #expect(Self.unchanged(HealthCheckSettings(), policies.compactMap(\.upstream.healthCheck)) == [])
    #expect(Self.unchanged(RouteSettings(), policies.flatMap(\.routes)) == [])
    policies.append(try #require(try PolicyValuesTests.load(PolicyValuesTests.withListedSchemes).policy))
    let clients = policies.flatMap(\.clients.values).map(\.settings)
    #expect(Self.unchanged(GatewaySettings(), policies.map(\.gateway)) == [])
    let tls = policies.compactMap(\.gateway.listeners.last?.tls)
    #expect(Self.unchanged(ListenerTLS(certificates: []), tls) == [])
    #expect(Self.unchanged(AccessLogSettings(), policies.compactMap(\.gateway.accessLog)) == [])
    #expect(Self.unchanged(StrictTransport(), policies.compactMap(\.gateway.strictTransport)) == [])
    #expect(Self.unchanged(LimitSettings(), policies.map(\.gateway.limits)) == [])
    #expect(Self.unchanged(UpstreamSettings(), policies.map(\.upstream)) == [])
    #expect(Self.unchanged(PolicyEnforcement(), policies.map(\.enforcement)) == [])
    #expect(Self.unchanged(EnforcementSettings(), policies.map(\.enforcement.defaults)) == [])
    #expect(Self.unchanged(EnforcementSettings(), clients.map(\.enforcement)) == [])
    #expect(Self.unchanged(ClientSettings(), clients) == [])
    #expect(Self.unchanged(UpstreamClient(), clients.map(\.upstream)) == [])
  }

  /// The properties that have their default in all values.
  private static func unchanged<Value>(_ defaults: Value, _ values: [Value]) -> [String] {
    // A set has no order, so the characters of its text are sorted.
    func parts(_ value: Value) -> [(String, String)] {
      Mirror(reflecting: value).children.map { ($0.label ?? "", String("\($0.value)".sorted())) }
    }
    let texts = values.map { Dictionary(parts($0)) { first, _ in first } }
    return parts(defaults).filter { label, text in texts.allSatisfy { $0[label] == text } }.map(\.0)
  }
}
