import FoundationEssentials
import OAuth
import Testing

@testable import Enforcement

@Suite("Rejections")
struct RejectionTests {
  private static let all = Rejection.subjects.flatMap(\.rejections)
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  @Test("docs/rules.md is equal to the page from the rejections; `make reference` writes it")
  func manual() throws {
    let file = Self.root.appendingPathComponent("docs/rules.md")
    if ProcessInfo.processInfo.environment["PROOFGATE_WRITE_REFERENCE"] != nil {
      try Data(RulesManual.page.utf8).write(to: file)
    }
    let written = String(decoding: try Data(contentsOf: file), as: UTF8.self).split(separator: "\n")
    let expected = RulesManual.page.split(separator: "\n")
    let difference = zip(written, expected).first { $0 != $1 }
    #expect(difference == nil && written.count == expected.count, "\(difference.map { "\($0)" } ?? "length")")
  }

  @Test("Each declared rejection belongs to one subject and has an id of its own")
  func declared() throws {
    let folder = Self.root.appendingPathComponent("Sources/Enforcement/Rejections")
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    let declarations = try files.flatMap { name in
      let text = String(decoding: try Data(contentsOf: folder.appendingPathComponent(name)), as: UTF8.self)
      return text.split(separator: "\n").filter { $0.hasSuffix(" = Rejection(") }
    }
    #expect(declarations.count == Self.all.count)
    #expect(Set(Self.all.map(\.ruleID)).count == declarations.count)
  }

  @Test(
    "6749-4.1.2.1-charset: descriptions contain only the characters that error_description allows",
    arguments: Self.all)
  func descriptions(rejection: Rejection) {
    #expect(ErrorDescription.sanitised(rejection.errorDescription) == rejection.errorDescription)
    #expect(rejection.reference.contains("section") || rejection.reference.contains("appendix"))
  }

  @Test("Rule ids are in kebab case", arguments: Self.all)
  func ids(rejection: Rejection) {
    #expect(rejection.ruleID.utf8.allSatisfy { ($0 >= 0x61 && $0 <= 0x7a) || $0 == UInt8(ascii: "-") })
  }

  @Test("I-failure: a failure of the gateway or the upstream is never invalid_grant", arguments: Self.all)
  func faults(rejection: Rejection) {
    if rejection.status >= 500 {
      #expect(rejection.errorCode == .serverError || rejection.errorCode == .temporarilyUnavailable)
    }
  }

  @Test("A rejection that may not redirect never has a redirect response")
  func noRedirect() {
    let redirect = VerifiedRedirect(
      redirectURI: Fixture.uri("com.example.app:/cb"), mode: .query, state: nil, issuer: "https://gw.example",
      rulesURL: "https://gw.example/.proofgate/rules",
      isUntrusted: false)
    #expect(RejectionResponse.redirecting(to: redirect, .redirectURIMismatch).response == nil)
    #expect(RejectionResponse.redirecting(to: redirect, .consentDenied).response != nil)
    #expect(RejectionResponse.withoutRedirect(.consentDenied).response == nil)
  }
}
