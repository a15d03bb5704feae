import FoundationEssentials
import PolicyFile
import Testing

@Suite("Shipped policies and deployment files")
struct ShippedPolicyTests {
  private static let root = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()

  @Test("A shipped policy has no errors", arguments: ["mobile-app", "desktop-and-cli", "mixed"])
  func policies(_ name: String) throws {
    let path = Self.root + "/policies/\(name).yaml"
    let outcome = PolicyFile.load(path: path, PolicySources(environment: [:], readsSecrets: false))
    #expect(outcome.diagnostics.filter { $0.severity == .error } == [])
    #expect(outcome.isServable)
    #expect(outcome.selfCheck.isMet)
    let text = String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
    #expect(text.hasPrefix("# yaml-language-server: $schema=proofgate.schema.json\n"))
  }

  @Test("Each example for a server has no error or warning, except that it observes, and says if it was run")
  func serverExamples() throws {
    let folder = Self.root + "/policies/servers"
    let names = try FileManager.default.contentsOfDirectory(atPath: folder)
    #expect(!names.isEmpty)
    let list = String(
      decoding: try Data(contentsOf: URL(fileURLWithPath: Self.root + "/docs/servers.md")), as: UTF8.self)
    for name in names {
      let path = folder + "/" + name
      let outcome = PolicyFile.load(path: path, PolicySources(environment: [:], readsSecrets: false))
      let found = outcome.diagnostics.filter {
        $0.severity != .note && ![.observeMode, .unknownClients].contains($0.id)
      }
      #expect(outcome.policy != nil && found == [], "\(name): \(found)")
      #expect(outcome.isServable, "\(name)")
      let text = String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
      #expect(text.hasPrefix("# yaml-language-server: $schema=../proofgate.schema.json\n"), "\(name)")
      #expect(text.contains("\n# Not run: ") || text.contains("\n# Run: "), "\(name)")
      #expect(list.contains("](../policies/servers/\(name))"), "\(name)")
    }
  }

  /// The warnings of each shipped policy, with their reasons.
  private static let warnings: [String: Set<DiagnosticID>] = [
    "policies/mobile-app.yaml": [],
    // Three apps share one client of the server, and one of them requires `localhost` and pads its verifiers.
    "policies/desktop-and-cli.yaml": [.sharedUpstreamClient, .localhostAnyPort, .lenientPKCE],
    // A web application that does not send PKCE yet.
    "policies/mixed.yaml": [.pkceOptional],
    // The kubelet's probes come from outside the pod; the NetworkPolicy names the other permitted sources.
    "deploy/kubernetes.yaml": [.adminExposed],
    "deploy/kubernetes-redis.yaml": [.adminExposed],
    "README.md": [],
    "docs/agents.md": [],
  ]

  /// The text of a policy, which may be part of another document.
  private static func text(_ path: String) throws -> String {
    let text = String(decoding: try Data(contentsOf: URL(fileURLWithPath: root + "/" + path)), as: UTF8.self)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    if let begin = lines.firstIndex(of: "```yaml") {
      return lines[(begin + 1)...].prefix { $0 != "```" }.joined(separator: "\n")
    }
    guard let begin = lines.firstIndex(of: "  policy.yaml: |") else { return text }
    return lines[(begin + 1)...].prefix { $0.hasPrefix("    ") }.map { $0.dropFirst(4) }.joined(separator: "\n")
  }

  @Test(
    "A shipped policy has the warnings that its example needs, and no others", arguments: warnings.keys.sorted())
  func shippedWarnings(_ path: String) throws {
    let sources = PolicySources(
      environment: [:], standardInput: Array(try Self.text(path).utf8), readsSecrets: false)
    let outcome = PolicyFile.load(path: PolicySources.standardInputPath, sources)
    #expect(outcome.policy != nil)
    let found = outcome.diagnostics.filter { $0.severity != .note }
    #expect(Set(found.map(\.id)) == Self.warnings[path], "\(found)")
  }

  @Test("Each file in policies/ has an entry in the list of warnings")
  func allPolicies() throws {
    let files = try FileManager.default.contentsOfDirectory(atPath: Self.root + "/policies")
    for file in files where file.hasSuffix(".yaml") && !file.hasSuffix(".test.yaml") {
      #expect(Self.warnings["policies/\(file)"] != nil, "\(file)")
    }
  }

  @Test("The steps for systemd install each file that the unit reads, and its user can read the policy")
  func systemd() throws {
    let unit = try Self.text("deploy/proofgate.service").split(separator: "\n")
    let guide = try Data(contentsOf: URL(fileURLWithPath: Self.root + "/deploy/README.md"))
    let steps = String(decoding: guide, as: UTF8.self).split(separator: "\n").map { $0.drop(while: { $0 == " " }) }
    let credentials = unit.filter { $0.hasPrefix("LoadCredential=") }.compactMap { $0.split(separator: ":").last }
    #expect(credentials.count == 2)
    for path in credentials {
      #expect(steps.contains { $0.hasSuffix(" \(path)") && !$0.contains("644") }, "\(path)")
    }
    #expect(unit.contains { $0.hasPrefix("ExecStart=") && $0.hasSuffix(" /etc/proofgate/policy.yaml") })
    #expect(steps.contains("sudo install -m 644 policy.yaml /etc/proofgate/policy.yaml"))
    #expect(steps.contains("sudo install -d -m 755 /etc/proofgate"))
  }

  @Test("The unit of systemd creates the directory of the store that its comment and the guide name")
  func stateDirectory() throws {
    let unit = try Self.text("deploy/proofgate.service")
    let guide = String(
      decoding: try Data(contentsOf: URL(fileURLWithPath: Self.root + "/deploy/README.md")), as: UTF8.self)
    #expect(unit.contains("\nStateDirectory=proofgate\n"))
    for text in [unit, guide] { #expect(text.contains("store: { file: /var/lib/proofgate/state.db }")) }
  }

  @Test("The reference explains every finding")
  func reference() throws {
    let data = try Data(contentsOf: URL(fileURLWithPath: Self.root + "/docs/policy.md"))
    let text = String(decoding: data, as: UTF8.self)
    let silent = DiagnosticID.allCases.map(\.rawValue).filter { !text.contains("| `\($0)` |") }
    #expect(silent == [])
  }
}
