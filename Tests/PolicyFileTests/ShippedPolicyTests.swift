import FoundationEssentials
import PolicyFile
import Testing

@Suite("What is shipped beside the program")
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

  @Test("The reference explains every finding")
  func reference() throws {
    let data = try Data(contentsOf: URL(fileURLWithPath: Self.root + "/docs/policy.md"))
    let text = String(decoding: data, as: UTF8.self)
    let silent = DiagnosticID.allCases.map(\.rawValue).filter { !text.contains("| `\($0)` |") }
    #expect(silent == [])
  }
}
