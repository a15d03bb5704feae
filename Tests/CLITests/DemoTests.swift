import Foundation
import Testing

@Suite("proofgate demo")
struct DemoTests {
  @Test("Headless, every step goes as expected over real sockets, and the code is 0")
  func headless() throws {
    let outcome = try Program.run("demo", "--headless")
    #expect(outcome.code == 0)
    #expect(outcome.output.hasSuffix("All 6 steps went as expected.\n"))
    #expect(outcome.errors.isEmpty)
  }

  @Test("With --log the demo's decisions are written, without a secret (I-secrets)")
  func log() throws {
    let folder = try Folder()
    let outcome = try Program.run("demo", "--headless", "--log", folder.path("log"))
    #expect(outcome.code == 0)
    let log = try folder.read("log")
    #expect(log.contains(#""rule":"pkce-verifier-mismatch""#))
    for secret in ["the-gateway-keeps-this", "wonderland", "code=", "access_token"] { #expect(!log.contains(secret)) }
  }
}
