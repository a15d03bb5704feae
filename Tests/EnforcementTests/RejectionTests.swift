import FoundationEssentials
import OAuth
import Testing

@testable import Enforcement

@Suite("Rejections")
struct RejectionTests {
  /// The sections of docs/rules.md: rule id to the lines of its section.
  private static let sections: [String: [String]] = {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("docs/rules.md")
    guard let data = try? Data(contentsOf: file) else { return [:] }
    var sections: [String: [String]] = [:]
    var id: String?
    for line in String(decoding: data, as: UTF8.self).split(separator: "\n") {
      if line.hasPrefix("## ") { id = String(line.dropFirst(3)) }
      if let id { sections[id, default: []].append(String(line)) }
    }
    return sections
  }()

  @Test("Every rule has a section in docs/rules.md", arguments: Rejection.allCases)
  func documented(rejection: Rejection) {
    #expect(Self.sections[rejection.ruleID] != nil)
    #expect(rejection.documentation == "docs/rules.md#\(rejection.ruleID)")
  }

  @Test("Every section of docs/rules.md has a rule")
  func noStaleSections() {
    #expect(Set(Self.sections.keys) == Set(Rejection.allCases.map(\.ruleID)))
  }

  @Test("docs/rules.md gives the same source and answer for each rule as the table", arguments: Rejection.allCases)
  func documentedAnswer(rejection: Rejection) throws {
    let lines = try #require(Self.sections[rejection.ruleID])
    #expect(lines.contains("- Source: \(rejection.reference)"))
    let answer =
      rejection.mayRedirect
      ? "`\(rejection.errorCode.rawValue)`, by redirect where the redirect URI is verified, else status \(rejection.status)"
      : "`\(rejection.errorCode.rawValue)`, status \(rejection.status), never a redirect"
    let documented = try #require(lines.first { $0.hasPrefix("- Answer: ") }).dropFirst("- Answer: ".count)
    #expect(documented == answer || documented.hasPrefix("\(answer);"))
  }

  @Test(
    "6749-4.1.2.1-charset: descriptions contain only the characters that error_description allows",
    arguments: Rejection.allCases)
  func descriptions(rejection: Rejection) {
    #expect(ErrorDescription.sanitised(rejection.errorDescription) == rejection.errorDescription)
    #expect(rejection.reference.contains("section") || rejection.reference.contains("appendix"))
  }

  @Test("Rule ids are in kebab case", arguments: Rejection.allCases)
  func ids(rejection: Rejection) {
    #expect(rejection.ruleID.utf8.allSatisfy { ($0 >= 0x61 && $0 <= 0x7a) || $0 == UInt8(ascii: "-") })
    #expect(rejection.metricLabel == rejection.ruleID)
  }

  @Test("I-failure: a failure of the gateway or the upstream is never invalid_grant", arguments: Rejection.allCases)
  func faults(rejection: Rejection) {
    if rejection.status >= 500 {
      #expect(rejection.errorCode == .serverError || rejection.errorCode == .temporarilyUnavailable)
    }
  }

  @Test("A rejection that may not redirect never has a redirect response")
  func noRedirect() {
    let redirect = VerifiedRedirect(
      redirectURI: Fixture.uri("com.example.app:/cb"), mode: .query, state: nil, issuer: "https://gw.example",
      isUntrusted: false)
    #expect(RejectionResponse.to(redirect, .redirectURIMismatch).response == nil)
    #expect(RejectionResponse.to(redirect, .consentDenied).response != nil)
    #expect(RejectionResponse.here(.consentDenied).response == nil)
  }
}
