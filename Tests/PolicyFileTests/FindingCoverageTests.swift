import PolicyFile
import Testing

@Suite("All findings")
struct FindingCoverageTests {
  @Test("Every kind of finding has a case")
  func everyKind() {
    let cases =
      FileFindings.cases + ValueFindings.cases + GatewayFindings.cases + TLSFindings.cases + ClientFindings.cases
      + RedirectFindings.cases + ResourceFindings.cases
    // The commands read the key file; their tests cover its findings.
    #expect(Set(cases.map(\.id)) == Set(DiagnosticID.allCases).subtracting([.invalidKeyFile]))
  }

  @Test("The base policy of the cases has no finding except that it names no proxy")
  func base() throws {
    let outcome = try PolicyFolder.load(FindingCase.base)
    #expect(outcome.diagnostics.map(\.id) == [.untrustedProxy])
    #expect(outcome.policy != nil)
    #expect(outcome.isServable)
    #expect([Diagnostic]().summary == "no problems")
    #expect(outcome.diagnostics.summary == "1 warning")
  }
}
