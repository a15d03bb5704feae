import ClientTestSupport
import Foundation
import HTTP
import Testing

@Suite("A store in a file, from the command line")
struct StoreCommandTests {
  private static func policy(_ folder: Folder, store: String = "state.db") throws -> ServedPolicy {
    var policy = try ServedPolicy()
    policy.gateway = "  store: { file: \(store), size: 16MiB }"
    try folder.write("policy.yaml", policy.text)
    return policy
  }

  private static func epoch(_ path: String) throws -> String {
    let outcome = try Program.run("store", "check", path)
    #expect(outcome.code == 0, "\(outcome.errors)")
    return try #require(outcome.output.split(separator: "\n").first { $0.hasPrefix("epoch ") }).description
  }

  @Test("A gateway creates the store, keeps it over a restart, and shows its engine and epoch")
  func life() async throws {
    let folder = try Folder()
    let policy = try Self.policy(folder)
    let path = folder.path("state.db")
    var epochs: Set<String> = []
    for start in 0..<2 {
      let child = try Child(["serve", "--policy", folder.path("policy.yaml"), "--log", folder.path("log")])
      let lines = try child.lines(until: " serves ")
      #expect(lines.contains { $0.contains("the store \(path) is new") } == (start == 0))
      #expect(try folder.mode("state.db") == 0o600)
      let metrics = Fetch.text(try await Fetch.get(policy.adminPort, "/metrics"))
      #expect(metrics.contains("proofgate_store_available 1\n"))
      #expect(metrics.contains(#"proofgate_store_info{engine="file",epoch=""#))
      let ready = Fetch.text(try await Fetch.get(policy.adminPort, "/readyz"))
      #expect(ready.contains(#""store":{"name":"file","ok":true}"#))
      // No other process can use the file while the gateway runs.
      for command in ["check", "reset"] {
        let outcome = try Program.run("store", command, path)
        #expect(outcome.code == 2)
        #expect(
          outcome.errors
            == "proofgate: error: the store \(path) is used by another process; each gateway needs a file of its own\n")
      }
      child.signal(start == 0 ? SIGTERM : SIGKILL)
      #expect(child.wait() == (start == 0 ? 0 : SIGKILL))
      epochs.insert(try Self.epoch(path))
    }
    #expect(epochs.count == 1)
    let reset = try Program.run("store", "reset", path)
    #expect(reset.code == 0)
    #expect(reset.errors == "proofgate: the store \(path) is empty and begins an epoch\n")
    #expect(try !epochs.contains(Self.epoch(path)))
  }

  @Test("A log that is lost after a kill begins a new epoch with one line, and the check finds it before")
  func lostLog() async throws {
    let folder = try Folder()
    _ = try Self.policy(folder)
    let path = folder.path("state.db")
    func serve(_ signal: Int32) async throws -> [String] {
      let child = try Child(["serve", "--policy", folder.path("policy.yaml"), "--log", folder.path("log")])
      let lines = try child.lines(until: " serves ")
      child.signal(signal)
      _ = child.wait()
      return lines
    }
    let notice = "begins a new epoch, because its log \(path)-wal is missing: "
    #expect(try await !serve(SIGKILL).contains { $0.contains(notice) })
    let before = try Self.epoch(path)
    try FileManager.default.removeItem(atPath: path + "-wal")
    let outcome = try Program.run("store", "check", path)
    #expect(outcome.code == 1)
    #expect(
      outcome.errors
        == "proofgate: error: the store \(path) is damaged: its log \(path)-wal is missing; the next start of the gateway "
        + "begins a new epoch\n")
    #expect(try await serve(SIGTERM).filter { $0.contains(notice) }.count == 1)
    let after = try Self.epoch(path)
    #expect(after != before)
    #expect(try await !serve(SIGTERM).contains { $0.contains(notice) })
    #expect(try Self.epoch(path) == after)
  }

  @Test("A damaged store stops the start with one line that names the solution, and the file is not changed")
  func damaged() throws {
    let folder = try Folder()
    _ = try Self.policy(folder)
    let path = folder.path("state.db")
    try folder.write("state.db", "not a database at all")
    let outcome = try Program.run("serve", "--policy", folder.path("policy.yaml"))
    #expect(outcome.code == 1)
    #expect(outcome.errorLines.last?.hasPrefix("proofgate: error: \(path) is not a store of Proofgate") == true)
    #expect(outcome.errors.contains("`proofgate store reset \(path)`"))
    #expect(try folder.read("state.db") == "not a database at all")
    #expect(try Program.run("store", "check", path).code == 1)
    #expect(try Program.run("store", "reset", path).errors.contains("is kept as \(path).old"))
    #expect(try Program.run("store", "check", path).code == 0)
  }

  @Test("A missing file or directory is reported with its path and exit code 2")
  func missing() throws {
    let folder = try Folder()
    let path = folder.path("state.db")
    let outcome = try Program.run("store", "check", path)
    #expect(outcome.code == 2)
    #expect(outcome.errors == "proofgate: error: the store \(path) cannot be opened: no such file; check the path\n")
    _ = try Self.policy(folder, store: "missing/state.db")
    let start = try Program.run("serve", "--policy", folder.path("policy.yaml"))
    #expect(start.code == 2)
    #expect(start.errorLines.last?.contains("missing/state.db cannot be opened: No such file or directory") == true)
  }

  @Test("`check` prints the number of families that fit into the file")
  func capacity() throws {
    let folder = try Folder()
    _ = try Self.policy(folder)
    let outcome = try Program.run("check", folder.path("policy.yaml"))
    #expect(outcome.output.contains("the store is \(folder.path("state.db")), with room for 50700 families"))
  }
}
