import FoundationEssentials
import PolicyFile

/// Runs the linter on the text of a policy.
enum Lint {
  struct Report {
    let errors: [String]
    let warnings: [String]
    let notes: [String]
    /// True if `serve` would start with this policy.
    let isServable: Bool
    let outcome: PolicyFile.Outcome

    var all: [String] { errors + warnings + notes }
  }

  /// Checks a policy that contains only these settings.
  static func check(enforcement: String = "mode: enforce", clients: String = "") throws -> Report {
    try check(
      text: """
        version: 1
        gateway: { origin: https://gw.example, listeners: [{ address: "127.0.0.1:8080" }], sealing_keys: { file: keys } }
        upstream: { url: "http://127.0.0.1:9000", endpoints: { authorization: /authorize, token: /token } }
        enforcement:
          \(enforcement)\(enforcement.contains("raw_refresh_until") ? "" : "\n  raw_refresh_until: never")
        clients:
        \(clients.isEmpty ? "  []" : clients)

        """)
  }

  static func check(text: String) throws -> Report {
    let path = FileManager.default.temporaryDirectory.path + "/proofgate-" + UUID().uuidString + ".yaml"
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    defer { try? FileManager.default.removeItem(atPath: path) }
    let outcome = PolicyFile.load(path: path, PolicySources(environment: [:], readsSecrets: false))
    let lines = (outcome.diagnostics + outcome.unsupportedSettings).map(\.description)
    return Report(
      errors: lines.filter { $0.contains(": error: ") }, warnings: lines.filter { $0.contains(": warning: ") },
      notes: lines.filter { $0.contains(": note: ") }, isServable: outcome.isServable, outcome: outcome)
  }
}
