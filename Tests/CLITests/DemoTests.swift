import ClientTestSupport
import Foundation
import HTTP
import Testing

@Suite("proofgate demo")
struct DemoTests {
  @Test("With --headless every step succeeds over real sockets, and the exit code is 0")
  func headless() throws {
    let outcome = try Program.run("demo", "--headless")
    #expect(outcome.code == 0)
    #expect(outcome.output.hasSuffix("All 6 steps went as expected.\n"))
    #expect(outcome.errors.isEmpty)
  }

  @Test("With --device and --agent the steps of both are added, and succeed over real sockets")
  func extras() throws {
    let outcome = try Program.run("demo", "--headless", "--device", "--agent")
    #expect(outcome.code == 0)
    #expect(outcome.output.hasSuffix("All 10 steps went as expected.\n"))
    #expect(outcome.output.contains("A device signs in at a server that has no device grant"))
    #expect(outcome.output.contains("An agent registers itself at a server that has no registration"))
    #expect(outcome.errors.isEmpty)
  }

  @Test("In the browser, --device shows a code that waits for the user, and --agent leads to the gateway's page")
  func extrasInBrowser() async throws {
    let child = try Child(["demo", "--device", "--agent"])
    defer { child.signal(15) }
    let link = try #require(child.outputLine(where: { $0.contains("http://127.0.0.1:") }))
    let port = try #require(Int(link.filter(\.isNumber).dropFirst("127001".count)))
    #expect(try await Fetch.get(port, "/device").status == 404)
    #expect(try await Fetch.get(port, "/device/start").headers["Location"] == "/device")
    let device = try await Fetch.get(port, "/device")
    #expect(device.status == 200 && device.headers["Refresh"] == "5")
    #expect(Fetch.text(device).contains("/device\""))
    let agent = try await Fetch.get(port, "/agent")
    #expect(agent.status == 302)
    #expect(try #require(agent.headers["Location"]).contains("/authorize?response_type=code&client_id=pg1."))
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

  @Test("The demo's app has a `main` element, and its button text has a contrast of at least 4.5 (WCAG 2.2, 1.4.3)")
  func contrast() async throws {
    let child = try Child(["demo"])
    defer { child.signal(15) }
    let link = try #require(child.outputLine(where: { $0.contains("http://127.0.0.1:") }))
    let port = try #require(Int(link.filter(\.isNumber).dropFirst("127001".count)))
    let page = Fetch.text(try await Fetch.get(port, "/"))
    #expect(page.contains("<main>") && page.contains("</main>"))
    let rule = try #require(page.range(of: #"\.button \{[^}]*\}"#, options: .regularExpression)).lowerBound
    let background = try #require(Self.colour(after: " background: ", in: page[rule...]))
    let text = try #require(Self.colour(after: " color: ", in: page[rule...]))
    #expect((max(background, text) + 0.05) / (min(background, text) + 0.05) >= 4.5)
  }

  /// The relative luminance of a hexadecimal colour (WCAG 2.2).
  private static func colour(after name: String, in style: Substring) -> Double? {
    guard let start = style.range(of: name + "#")?.upperBound else { return nil }
    var digits = style[start...].prefix { $0.isHexDigit }.map { $0 }
    if digits.count == 3 { digits = digits.flatMap { [$0, $0] } }
    guard digits.count == 6, let value = Int(String(digits), radix: 16) else { return nil }
    let parts = [16, 8, 0].map { shift in
      let part = Double(value >> shift & 0xff) / 255
      return part <= 0.04045 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4)
    }
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
  }
}
