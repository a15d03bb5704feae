import Foundation
import Testing

@Suite("proofgate check")
struct CheckTests {
  @Test("A wrong policy gives every error with line and column, and ends with 1")
  func wrongPolicy() throws {
    let folder = try Folder()
    var policy = try ServedPolicy()
    policy.clientType = "publik"
    policy.gateway = "  replicas: none"
    let path = try folder.write("policy.yaml", policy.text)
    let outcome = try Program.run("check", path)
    #expect(outcome.code == 1)
    #expect(outcome.output.contains("\(path):8:13: error: "))
    #expect(outcome.output.contains("\(path):17:11: error: `type` cannot be `publik`; did you mean `public`?"))
    #expect(outcome.output.contains("2 errors"))
    #expect(outcome.errors.isEmpty)
  }

  @Test("A valid policy ends with 0 and shows the self-check of RFC 8252 and its version")
  func goodPolicy() throws {
    let folder = try Folder()
    let path = try folder.write("policy.yaml", try ServedPolicy().text)
    let outcome = try Program.run("check", path)
    #expect(outcome.code == 0)
    #expect(outcome.output.contains("RFC 8252, appendix A: met"))
    #expect(outcome.output.contains("with 1 client\n"))
    #expect(outcome.output.contains("the store is in memory"))
    #expect(outcome.output.contains("a restart forgets which codes were redeemed and which families ended"))
  }

  @Test("With --quiet notes, self-check and summary are omitted")
  func quiet() throws {
    let folder = try Folder()
    let path = try folder.write("policy.yaml", try ServedPolicy().text)
    let outcome = try Program.run("check", "--quiet", path)
    #expect(outcome.code == 0)
    #expect(outcome.output.split(separator: "\n").allSatisfy { $0.contains(": warning: ") })
  }

  @Test("The JSON report has the same content")
  func json() throws {
    struct Report: Decodable {
      struct Entry: Decodable {
        struct Finding: Decodable {
          let id: String
          let severity: String
          let line: Int
          let column: Int
        }
        let file: String
        let ok: Bool
        let findings: [Finding]
      }
      let ok: Bool
      let policies: [Entry]
    }
    let folder = try Folder()
    var policy = try ServedPolicy()
    let good = try folder.write("good.yaml", policy.text)
    policy.clientType = "publik"
    let bad = try folder.write("bad.yaml", policy.text)
    let outcome = try Program.run("check", "--format", "json", good, bad)
    #expect(outcome.code == 1)
    let report = try JSONDecoder().decode(Report.self, from: Data(outcome.output.utf8))
    #expect(!report.ok)
    #expect(report.policies.map(\.ok) == [true, false])
    #expect(report.policies.map(\.file) == [good, bad])
    let error = try #require(report.policies[1].findings.first { $0.severity == "error" })
    #expect(error.id == "invalid-value")
    #expect(error.line == 17 && error.column == 11)
  }

  @Test("A malformed key file is reported too, with line and column")
  func keyFile() throws {
    let folder = try Folder()
    try folder.write("keys", "3f9a01c2 2026-11-21T08:30:00Z short seals\n")
    var policy = try ServedPolicy()
    policy.gateway = "  sealing_keys: { file: keys }"
    policy.pass = "[/login]"
    let path = try folder.write("policy.yaml", policy.text)
    let outcome = try Program.run("check", path)
    #expect(outcome.code == 1)
    #expect(outcome.output.contains("keys:1:31: error: the key is not 32 bytes"))
    #expect(outcome.output.contains("[invalid-key-file]") == false)
    #expect(outcome.output.hasSuffix("1 error, 1 warning\n"))

    policy.gateway += "\n  replicas: 0"
    try folder.write("policy.yaml", policy.text)
    let both = try Program.run("check", path)
    #expect(both.code == 1)
    #expect(both.output.contains("`replicas`"))
    #expect(both.output.contains("keys:1:31: error: the key is not 32 bytes"))
  }

  @Test("A missing file ends with 2, as for serve, and with --no-secrets no secret file is needed")
  func noSecrets() throws {
    let folder = try Folder()
    var policy = try ServedPolicy()
    policy.gateway = "  sealing_keys: { file: no-such-file }"
    policy.pass = "[/login]"
    let path = try folder.write("policy.yaml", policy.text)
    #expect(try Program.run("check", path).code == 2)
    #expect(try Program.run("serve", path).code == 2)
    let outcome = try Program.run("check", "--no-secrets", path)
    #expect(outcome.code == 0)
    #expect(outcome.output.hasSuffix("no problems; secrets, keys and certificates were not read\n"))
  }

  @Test("A policy can be read from standard input")
  func standardInput() throws {
    let outcome = try Program.run("check", "-", input: "version: 2\n")
    #expect(outcome.output.contains("\n-:1:10: error: `version` cannot be `2`"))
    #expect(outcome.code == 1)
  }

  @Test("The README's policy has no errors")
  func readme() throws {
    let parts = try Repository.read("README.md").components(separatedBy: "```")
    let block = try #require(parts.first { $0.hasPrefix("yaml\n") })
    let folder = try Folder()
    try folder.write("policy.yaml", String(block.dropFirst(5)))
    try folder.write("legacy-mail-secret", "secret\n")
    _ = try Program.run("keys", "generate", "--file", folder.path("sealing-keys"))
    let outcome = try Program.run("check", "--quiet", folder.path("policy.yaml"))
    #expect(outcome.code == 0, "\(outcome.output)")
  }
  @Test("The policy of docs/agents.md has no problems, and `check` asks for the registration key as `serve` does")
  func agents() throws {
    let parts = try Repository.read("docs/agents.md").components(separatedBy: "```")
    let block = try #require(parts.first { $0.hasPrefix("yaml\n") })
    let folder = try Folder()
    let path = try folder.write("policy.yaml", String(block.dropFirst(5)))
    for name in ["legacy-web-secret", "mail-secret"] {
      try folder.write(name, String(repeating: "0123456789abcdef", count: 4))
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: folder.path(name))
    }
    let keys = folder.path("sealing-keys")
    _ = try Program.run("keys", "generate", "--file", keys)
    let incomplete = try Program.run("check", path)
    #expect(incomplete.code == 1)
    #expect(incomplete.output.contains("sealing-keys:1:1: error: `registration` needs a key of its own"))
    #expect(try Program.run("serve", path).code == 1)
    _ = try Program.run("keys", "rotate", "--registration", "--file", keys)
    let rotated = try Program.run("check", "--quiet", path)
    #expect(rotated.code == 0, "\(rotated.output)")
    let text = try folder.read("sealing-keys")
    try folder.write("sealing-keys", text.replacing(/registration (\w+ +\S+ +\S{20})\S+/) { "registration \($0.1)" })
    let short = try Program.run("check", path)
    #expect(short.code == 1)
    #expect(short.output.contains("error: the key is not 32 bytes in base64url"), "\(short.output)")
    try FileManager.default.removeItem(atPath: keys)
    _ = try Program.run("keys", "generate", "--registration", "--file", keys)
    let outcome = try Program.run("check", "--quiet", path)
    #expect(outcome.code == 0)
    #expect(outcome.output.isEmpty, "\(outcome.output)")
  }
}
