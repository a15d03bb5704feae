import Foundation
import Testing

@Suite("proofgate healthcheck")
struct HealthcheckTests {
  @Test("A gateway that serves is healthy, and one whose upstream is away is not ready")
  func served() throws {
    let policy = try ServedPolicy()
    let folder = try Folder()
    try folder.write("policy.yaml", policy.text)
    let child = try Child(["serve", "--policy", folder.path("policy.yaml"), "--log", folder.path("log")])
    _ = try child.lines(until: " serves ")
    let address = "127.0.0.1:\(policy.adminPort)"
    let live = try Program.run("healthcheck", "--admin", address)
    #expect(live.code == 0)
    #expect(live.output == "ok\n")
    let ready = try Program.run("healthcheck", "--admin", address, "--ready")
    #expect(ready.code == 1)
    #expect(ready.output.contains(#""name":"upstream","ok":false"#))
    #expect(ready.errors == "proofgate: error: the gateway on \(address) answered /readyz with 503\n")
    child.signal(SIGTERM)
    #expect(child.wait() == 0)
    let ended = try Program.run("healthcheck", "--admin", address)
    #expect(ended.code == 1)
    #expect(ended.errors.hasPrefix("proofgate: error: the gateway on \(address) does not answer /healthz: "))
  }

  @Test(
    "A malformed address is refused with 64",
    arguments: ["localhost:9180", "127.0.0.1", "127.0.0.1:x", "127.0.0.1:70000", "[::1:9180", ""])
  func wrongAddress(_ address: String) throws {
    let outcome = try Program.run("healthcheck", "--admin", address)
    #expect(outcome.code == 64)
    #expect(outcome.errors.contains("`\(address)` is not an address"))
  }
}
