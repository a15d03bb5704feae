import Policy
import Testing

@testable import PolicyFile

/// A policy with findings, and the expected text of the findings.
struct FindingCase: CustomTestStringConvertible {
  let id: DiagnosticID
  let testDescription: String
  let text: String
  let files: [String: String]
  let expected: String

  var hasErrors: Bool { !id.isAlwaysServed && expected.contains(": error: ") }

  /// - Parameters:
  ///   - text: The whole policy; if nil, a valid policy with `edits`, `clients` and the client of `mail`.
  ///   - mail: Lines of the public client `com.example.mail`, in addition to its redirect URI; nil for no such client.
  ///   - expected: The findings, without the policy's folder in their paths.
  init(
    _ id: DiagnosticID, _ title: String, text: String? = nil, edits: [(String, String)] = [], clients: String = "",
    mail: [String]? = nil, files: [String: String] = [:], expected: String
  ) {
    self.id = id
    testDescription = "\(id.rawValue): \(title)"
    var whole = text ?? (Self.base + (mail.map(Self.mail) ?? "") + clients)
    for (old, new) in edits {
      if let place = whole.firstRange(of: old) { whole.replaceSubrange(place, with: new) }
    }
    self.text = whole + "\n"
    self.files = files
    self.expected = expected
  }

  /// A policy without any finding of its own.
  static let base = """
    version: 1
    gateway:
      origin: https://id.example.com
      listeners: [{ address: 127.0.0.1:8080 }]
      sealing_keys: { file: keys }
    upstream:
      url: http://127.0.0.1:9000
      endpoints: { authorization: /authorize, token: /token }
    enforcement:
      mode: enforce
      raw_refresh_until: never

    """

  private static func mail(_ lines: [String]) -> String {
    (["clients:", "  - id: com.example.mail"]
      + (["type: public", "redirect_uris: [com.example.mail:/callback]"] + lines).map { "    " + $0 })
      .joined(separator: "\n")
  }

  struct Result {
    let policy: Policy?
    let text: String
    let ids: [DiagnosticID]
  }

  func load() throws -> Result {
    let names = files.merging(["policy.yaml": text, "keys": "k1\n"]) { own, _ in own }
    let folder = try PolicyFolder(names, open: ["open"])
    defer { folder.remove() }
    let environment = [
      "LEGACY_SECRET": "s3cret", "STRONG_SECRET": "5f0c1e9d7a3b48268d4e0f6b2c917a35", "EMPTY": "",
    ]
    // The authorities of the machine do not affect a case.
    let outcome = PolicyFile.load(
      path: folder.path + "/policy.yaml", environment: environment, systemAuthorities: nil)
    // The base policy names no proxy, no revocation endpoint, no paths to pass and none that complete sign-ins. These are
    // findings of their own cases only.
    let common: Set<DiagnosticID> = [.untrustedProxy, .revocationMissing, .everythingPassed, .completionPaths]
    let findings = (outcome.diagnostics + outcome.unsupportedSettings).filter { !common.contains($0.id) || id == $0.id }
    return Result(policy: outcome.policy, text: folder.lines(findings), ids: findings.map(\.id))
  }

  /// Reads the policy, and records an issue unless the findings are the expected ones and only errors prevent its use.
  func check(sourceLocation: Testing.SourceLocation = #_sourceLocation) throws {
    let outcome = try load()
    #expect(outcome.text == expected, sourceLocation: sourceLocation)
    #expect(outcome.ids.contains(id), sourceLocation: sourceLocation)
    #expect((outcome.policy == nil) == hasErrors, sourceLocation: sourceLocation)
  }
}

extension DiagnosticID {
  /// True if the policy is served in spite of the finding.
  var isAlwaysServed: Bool { self == .notYetSupported }
}
