import Foundation
import PathReading
import Testing

@testable import proofgate

/// Statements of the documents and the deployment files about the program and its tests.
@Suite("Documents and deployment files")
struct DocumentTests {
  // MARK: Findings

  /// The findings that the table must have, in its order.
  private static let findings: [String] = {
    let security: [String] = (1...20).map { "\($0)" } + ["21a", "21b", "21c", "21d", "21e", "21f"]
    let chains = ["G1", "G2", "G3", "G4", "G5", "T1", "T2"]
    let operation: [Int] = [2, 3, 4, 5, 8, 9, 13, 14, 16, 17, 19, 21, 22, 23, 24, 25, 26, 27, 35, 36, 37, 38, 39, 40]
    var findings: [String] = security.map { "security \($0)" }
    findings += (1...17).map { "core A\($0)" }
    findings += (1...7).map { "core B\($0)" }
    findings += chains.map { "chains \($0)" }
    findings += (1...7).map { "servers D\($0)" }
    findings += operation.map { "operator \($0)" }
    return findings
  }()

  /// The titles of all tests, which take long to read.
  private static let titles = Result {
    try TestTitles(folder: Repository.root.appendingPathComponent("Tests"))
  }

  @Test("Each finding of the reviews has one row in docs/attacks.md, in the order of the numbers")
  func findings() throws {
    let named = try FindingsTable(Repository.read("docs/attacks.md")).rows.map(\.finding)
    #expect(Set(named).count == named.count)
    #expect(named.filter(Set(Self.findings).contains) == Self.findings)
  }

  @Test("Every test that docs/attacks.md names for a finding exists")
  func proofs() throws {
    let titles = try Self.titles.get()
    let makefile = try Repository.read("Makefile")
    for row in try FindingsTable(Repository.read("docs/attacks.md")).rows {
      #expect(row.holds.hasSuffix(".") && row.holds.first?.isLowercase == false, "\(row.finding): \(row.holds)")
      for proof in row.proofs {
        #expect(titles.missing(proof) == nil, "\(row.finding)")
        if let target = proof.target { #expect(makefile.contains("\n\(target):"), "\(row.finding): make \(target)") }
      }
    }
  }

  @Test(
    "A row with a test, a suite or a case that does not exist is detected",
    arguments: [
      #"CLITests/DocumentTests "No such test""#, "CLITests/NoSuchTests", "NoTarget/DocumentTests",
      #"PolicyFileTests/ClientFindings "One finding, in its words and at its place" (`No such case`)"#,
      #"CLITests/KeysTests "`keys list` gives each key's id, age and state, and no secret", "No such test""#,
    ])
  func missingProof(_ proof: String) throws {
    let titles = try Self.titles.get()
    let head = "| finding | what holds | shown by |\n|---|---|---|\n"
    let table = try FindingsTable(head + "| a 1 | It holds. | `make lint`; \(proof) |\n")
    #expect(table.rows.map(\.finding) == ["a 1"])
    #expect(table.rows[0].proofs.map(\.target) == ["lint", nil])
    #expect(titles.missing(table.rows[0].proofs[0]) == nil)
    #expect(titles.missing(table.rows[0].proofs[1]) != nil)
  }

  @Test("Every suite that the documents on attacks and on the threat model name exists")
  func suites() throws {
    let titles = try Self.titles.get().titles
    let known = Set(titles.keys.flatMap { $0.split(separator: "/") })
    for file in ["docs/attacks.md", "docs/threat-model.md"] {
      // Every second piece is between two backticks.
      let quoted = try Repository.read(file).components(separatedBy: "`").enumerated().filter { $0.offset % 2 == 1 }
      let named = quoted.flatMap { $0.element.split(separator: ".") }.filter { name in
        name.hasSuffix("Tests") && name.allSatisfy { $0.isLetter || $0.isNumber }
      }
      #expect(named.count > 20)
      #expect(Set(named).subtracting(known) == [], "\(file)")
    }
  }

  @Test("The threat model has a row for each endpoint")
  func endpoints() throws {
    let text = try Repository.read("docs/threat-model.md")
    let section = try #require(text.components(separatedBy: "\n## ").first { $0.hasPrefix("Endpoints\n") })
    let rows = section.components(separatedBy: "\n| `").dropFirst().compactMap { $0.split(separator: "`").first }
    let endpoints = Set(Endpoint.allCases.map { "\($0)" })
    #expect(endpoints.subtracting(rows.map(String.init)) == [])
  }

  // MARK: Commands

  @Test("The documents name only commands that the program has")
  func commands() throws {
    let errors = try Program.run("fly").errors
    let list = try #require(errors.components(separatedBy: "the commands are ").last)
    let known = Set(list.components(separatedBy: "`").filter { $0.allSatisfy(\.isLetter) && !$0.isEmpty })
    var files = ["README.md", "SECURITY.md", "CONTRIBUTING.md", "deploy/README.md", "policies/proofgate.schema.json"]
    let folder = Repository.root.appendingPathComponent("docs")
    files += try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".md") }
      .map { "docs/" + $0 }
    var named: Set<String> = []
    for file in files {
      let text = try Repository.read(file)
      // In code: after a backtick, at the beginning of a line of a block, after a prompt, or after a path.
      for pattern in ["`proofgate ", "\nproofgate ", "\n$ proofgate ", "    proofgate ", "/proofgate "] {
        for rest in text.components(separatedBy: pattern).dropFirst() {
          let word = rest.prefix { $0.isLetter && $0.isLowercase }
          guard rest.dropFirst(word.count).first.map({ " `\n".contains($0) }) ?? true, !word.isEmpty else { continue }
          named.insert(String(word))
          #expect(known.contains(String(word)), "\(file): proofgate \(word)")
        }
      }
    }
    #expect(named.isSuperset(of: ["serve", "check", "keys", "demo"]))
  }

  // MARK: Deployment

  private static let manifests = ["deploy/kubernetes.yaml", "deploy/kubernetes-redis.yaml"]

  /// The documents of a Kubernetes manifest.
  private static func documents(_ path: String) throws -> [String] {
    try Repository.read(path).components(separatedBy: "\n---\n")
  }

  @Test("The Kubernetes manifest contains no secret, and the policy in it has no errors", arguments: manifests)
  func manifest(_ path: String) throws {
    let documents = try Self.documents(path)
    let kinds = documents.flatMap { $0.components(separatedBy: "\n").filter { $0.hasPrefix("kind: ") } }
    #expect(kinds.contains("kind: Deployment"))
    #expect(!kinds.contains("kind: Secret"))
    let map = try #require(documents.first { $0.contains("kind: ConfigMap") })
    let policy = map.components(separatedBy: "  policy.yaml: |\n").dropFirst().joined()
      .components(separatedBy: "\n").map { $0.dropFirst(4) }.joined(separator: "\n")
    let folder = try Folder()
    let outcome = try Program.run("check", "--no-secrets", "--quiet", folder.write("policy.yaml", policy))
    #expect(outcome.code == 0, "\(outcome.output)")
  }

  @Test("The Redis user of the Kubernetes guide has the rights of the manual")
  func redisRights() throws {
    func rights(_ path: String, after prefix: String) throws -> String {
      let line = try #require(
        try Repository.read(path).components(separatedBy: "\n").first { $0.contains(prefix) && $0.contains("-@all") })
      return try #require(line.components(separatedBy: " ~proofgate:* ").last).trimmingCharacters(in: ["\"", " "])
    }
    #expect(
      try rights("deploy/README.md", after: "user proofgate") == rights("docs/operations.md", after: "ACL SETUSER"))
  }

  @Test(
    "The memory limit of the Kubernetes manifest leaves room above the default of max_buffer_memory",
    arguments: manifests)
  func memoryLimit(_ path: String) throws {
    let manifest = try Repository.read(path)
    let limit = try #require(manifest.components(separatedBy: "limits: { memory: ").dropFirst().first)
    let mebibytes = try #require(Int(limit.prefix { $0.isNumber }))
    #expect(limit.dropFirst("\(mebibytes)".count).hasPrefix("Mi }"))
    #expect(mebibytes << 20 >= BufferMemory(memoryLimit: nil, configuredValue: nil).defaultValue + 64 << 20)
  }

  @Test("The command for the container mounts the policy and every file that the README's policy names")
  func container() throws {
    let readme = try Repository.read("README.md").components(separatedBy: "```")
    let policy = try #require(readme.first { $0.hasPrefix("yaml\n") })
    let files = policy.components(separatedBy: "file: ").dropFirst().map { $0.prefix { $0 != " " && $0 != "\n" } }
    #expect(files.count >= 2)
    let command = try #require(
      try Repository.read("deploy/README.md").components(separatedBy: "docker run ").dropFirst().first?
        .components(separatedBy: "\n\n").first)
    for file in ["policy.yaml"] + files.map(String.init) {
      #expect(command.contains("/\(file):/etc/proofgate/\(file):ro\""), "\(file)")
    }
  }

  @Test("The manual and the Kubernetes manifest give secrets the same mode")
  func secretMode() throws {
    func mode(_ file: String) throws -> Substring? {
      try Repository.read(file).components(separatedBy: "defaultMode: ").dropFirst().first?.prefix { $0.isNumber }
    }
    let manifest = try #require(try mode("deploy/kubernetes.yaml"))
    #expect(manifest == "0400")
    #expect(try mode("deploy/kubernetes-redis.yaml") == manifest)
    #expect(try mode("docs/policy.md") == manifest)
  }
}
