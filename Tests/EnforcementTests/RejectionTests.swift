import FoundationEssentials
import OAuth
import Testing

@testable import Enforcement

@Suite("Rejections")
struct RejectionTests {
  private static let documentation: Set<String> = {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("docs/rules.md")
    guard let data = try? Data(contentsOf: file) else { return [] }
    let lines = String(decoding: data, as: UTF8.self).split(separator: "\n")
    return Set(lines.filter { $0.hasPrefix("## ") }.map { String($0.dropFirst(3)) })
  }()

  @Test("Every rule has its section in docs/rules.md", arguments: Rejection.allCases)
  func documented(rejection: Rejection) {
    #expect(Self.documentation.contains(rejection.ruleID))
    #expect(rejection.documentation == "docs/rules.md#\(rejection.ruleID)")
  }

  @Test("docs/rules.md has no section without a rule")
  func noStaleSections() {
    #expect(Self.documentation == Set(Rejection.allCases.map(\.ruleID)))
  }

  @Test(
    "6749-4.1.2.1-charset: descriptions keep to the characters that an error may have", arguments: Rejection.allCases)
  func descriptions(rejection: Rejection) {
    #expect(ErrorDescription.sanitised(rejection.errorDescription) == rejection.errorDescription)
    #expect(rejection.reference.contains("section") || rejection.reference.contains("appendix"))
  }

  @Test("Rule ids are in kebab case", arguments: Rejection.allCases)
  func ids(rejection: Rejection) {
    #expect(rejection.ruleID.utf8.allSatisfy { ($0 >= 0x61 && $0 <= 0x7a) || $0 == UInt8(ascii: "-") })
    #expect(rejection.metricLabel == rejection.ruleID)
  }

  @Test("I-failure: a fault of ours or of the upstream is never invalid_grant", arguments: Rejection.allCases)
  func faults(rejection: Rejection) {
    if rejection.status >= 500 {
      #expect(rejection.errorCode == .serverError || rejection.errorCode == .temporarilyUnavailable)
    }
  }

  @Test("A rejection that may not redirect has no response, whatever it is given")
  func noRedirect() {
    let redirect = VerifiedRedirect(
      redirectURI: Fixture.uri("com.example.app:/cb"), mode: .query, state: nil, issuer: "https://gw.example",
      isUntrusted: false)
    #expect(Refusal.to(redirect, .redirectURIMismatch).response == nil)
    #expect(Refusal.to(redirect, .consentDenied).response != nil)
    #expect(Refusal.here(.consentDenied).response == nil)
  }
}
