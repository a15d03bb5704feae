import ClientTestSupport
import Foundation
import HTTP
import Reactor
import Testing

@Suite("A start that fails")
struct StartTests {
  @Test("A policy with errors gives all of them and ends with 1")
  func wrongPolicy() throws {
    let folder = try Folder()
    var policy = try ServedPolicy()
    policy.clientType = "publik"
    policy.gateway = "  replicas: none"
    let path = try folder.write("policy.yaml", policy.text)
    let outcome = try Program.run("serve", "--policy", path)
    #expect(outcome.code == 1)
    #expect(outcome.errorLines.count { $0.contains(": error: ") } == 2)
  }

  @Test("A missing policy file gives one line and ends with 2")
  func missingPolicy() throws {
    let outcome = try Program.run("serve", "--policy", "/no/such/policy.yaml")
    #expect(outcome.code == 2)
    #expect(
      outcome.errorLines == [
        "/no/such/policy.yaml:1:1: error: policy file `/no/such/policy.yaml` does not exist; check the path"
      ])
  }

  @Test("A port in use gives one line with the port and ends with 2")
  func portInUse() throws {
    let taken = try Ports.taken()
    defer { taken.close() }
    let folder = try Folder()
    var policy = try ServedPolicy()
    policy.port = taken.address.port
    let path = try folder.write("policy.yaml", policy.text)
    let outcome = try Program.run("serve", "--policy", path)
    #expect(outcome.code == 2)
    let errors = outcome.errorLines.filter { $0.contains("error: ") }
    #expect(errors.count == 1)
    #expect(
      errors.first?.hasPrefix("proofgate: error: cannot listen on \(taken.address): Address already in use") == true)
  }

  @Test("An admin port in use gives one line with the port and ends with 2")
  func adminPortInUse() throws {
    let taken = try Ports.taken()
    defer { taken.close() }
    let folder = try Folder()
    var policy = try ServedPolicy()
    policy.adminPort = taken.address.port
    let outcome = try Program.run("serve", "--policy", try folder.write("policy.yaml", policy.text))
    #expect(outcome.code == 2)
    #expect(outcome.errors.contains("cannot listen on \(taken.address)"))
  }

  @Test("A missing key file gives one line with the command that creates it and ends with 2")
  func missingKeyFile() throws {
    let folder = try Folder()
    var policy = try ServedPolicy()
    policy.gateway = "  sealing_keys: { file: keys }"
    policy.pass = "[/login]"
    let path = try folder.write("policy.yaml", policy.text)
    let outcome = try Program.run("serve", "--policy", path)
    #expect(outcome.code == 2)
    #expect(outcome.errorLines.count == 1)
    #expect(outcome.errors.hasPrefix("\(path):8:25: error: "))
    #expect(outcome.errors.contains("keys` does not exist"))
    #expect(outcome.errors.contains("`proofgate keys generate --file"))
  }

  @Test("A malformed key file gives positions and no key, and ends with 1 (I-secrets)")
  func malformedKeyFile() throws {
    let folder = try Folder()
    let secret = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh9x"
    try folder.write("keys", "3f9a01c2 2026-11-21T08:30:00Z \(secret) seals\n")
    var policy = try ServedPolicy()
    policy.gateway = "  sealing_keys: { file: keys }"
    let outcome = try Program.run("serve", "--policy", try folder.write("policy.yaml", policy.text))
    #expect(outcome.code == 1)
    #expect(outcome.errors.contains("\(folder.path("keys")):1:31: error: the key is not 32 bytes"))
    #expect(!outcome.errors.contains(secret))
  }

  @Test("A log that cannot be written gives one line and ends with 2")
  func log() throws {
    let folder = try Folder()
    let path = try folder.write("policy.yaml", try ServedPolicy().text)
    let outcome = try Program.run("serve", "--policy", path, "--log", "/no/such/folder/log")
    #expect(outcome.code == 2)
    #expect(
      outcome.errorLines.last
        == "proofgate: error: the log file /no/such/folder/log cannot be written: No such file or directory; name another with --log"
    )
  }

  @Test("The demo on a port in use gives one line and ends with 2")
  func demo() throws {
    let taken = try Ports.taken()
    defer { taken.close() }
    let outcome = try Program.run("demo", "--headless", "--port", "\(taken.address.port)")
    #expect(outcome.code == 2)
    #expect(outcome.errorLines.count == 1)
    #expect(outcome.errors.contains("cannot listen on \(taken.address)"))
  }

  @Test("With too few descriptors `serve` and `demo` name the number needed, with which the gateway answers requests")
  func descriptors() async throws {
    let folder = try Folder()
    let policy = try ServedPolicy()
    let arguments = ["serve", "--policy", try folder.write("policy.yaml", policy.text), "--log", folder.path("log")]
    let form = /proofgate: error: cannot start: this process may open (\d+) files, and needs at least (\d+); raise .*/
    var limit = 24
    // The first refusals are from before all sockets are open.
    for attempt in 0..<4 {
      let child = try Child(arguments, descriptors: limit)
      let line = try child.lines(where: { $0.contains("cannot start") || $0.contains(" serves ") }).last
      guard let refusal = line?.wholeMatch(of: form) else {
        #expect(attempt > 0)
        #expect(try await Fetch.get(policy.port, "/authorize?client_id=nobody").status == 400)
        child.signal(SIGTERM)
        #expect(child.wait() == 0)
        let fewer = try Child(arguments, descriptors: limit - 1)
        #expect(fewer.wait() == 2)
        #expect(fewer.readErrors().contains("needs at least \(limit);"))
        let demo = try Child(["demo", "--headless"], descriptors: 40)
        #expect(demo.wait() == 2)
        #expect(demo.readErrors().contains("cannot start: this process may open 40 files"))
        return
      }
      #expect(child.wait() == 2)
      #expect(refusal.1 == "\(limit)")
      limit = try #require(Int(refusal.2))
    }
    Issue.record("the gateway does not start with \(limit) descriptors")
  }
}
