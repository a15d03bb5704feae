import PolicyFile
import Testing

@Suite("All findings")
struct FindingCoverageTests {
  @Test("Every kind of finding has a case")
  func everyKind() {
    let cases =
      FileFindings.cases + ValueFindings.cases + GatewayFindings.cases + TLSFindings.cases + ClientFindings.cases
      + RedirectFindings.cases
    #expect(Set(cases.map(\.id)) == Set(DiagnosticID.allCases))
  }

  @Test("The policy that the cases start from has no finding")
  func base() throws {
    let outcome = try PolicyFolder.load(FindingCase.base)
    #expect(outcome.diagnostics == [])
    #expect(outcome.policy != nil)
    #expect(outcome.isServable)
    #expect(outcome.diagnostics.summary == "no problems")
  }
}
