import Foundation
import Testing
import Time

@testable import proofgate

@Suite("Notices as JSON")
struct NoticeTests {
  @Test(
    "A message becomes an object with time, level and text on one line",
    arguments: [
      ("proofgate: ended", "info", "ended"), ("proofgate: warning: a \"b\"\nc", "warning", #"a \"b\"\nc"#),
      ("proofgate: error: reload refused", "error", "reload refused"),
      ("policy.yaml:3:5: error: unknown key", "error", "policy.yaml:3:5: error: unknown key"),
      ("policy.yaml:3:5: warning: see: error: x", "warning", "policy.yaml:3:5: warning: see: error: x"),
    ])
  func forms(_ text: String, _ level: String, _ message: String) {
    let line = Notice.json(text, at: 1_795_000_000_123)
    #expect(line == #"{"level":"\#(level)","message":"\#(message)","time":"2026-11-18T11:06:40.123Z"}"#)
  }

  @Test("With notices: json, all messages of a serving gateway are objects")
  func serving() throws {
    let folder = try Folder()
    var served = try ServedPolicy()
    served.gateway = "  notices: json"
    let policy = try folder.write("policy.yaml", served.text)
    let child = try Child(["serve", policy, "--log", folder.path("log")])
    let lines = try child.lines(until: " serves ")
    #expect(!lines.isEmpty && lines.allSatisfy { $0.hasPrefix(#"{"level":""#) && $0.hasSuffix("Z\"}") }, "\(lines)")
    child.signal(SIGTERM)
    #expect(child.wait() == 0)
  }
}
