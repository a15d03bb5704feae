import PolicyFile
import Testing

@Suite("All findings")
struct FindingCoverageTests {
  @Test("Every kind of finding has a case")
  func everyKind() {
    let cases =
      FileFindings.cases + ValueFindings.cases + GatewayFindings.cases + TLSFindings.cases + ClientFindings.cases
      + BrandingFindings.cases
      + RedirectFindings.cases + ResourceFindings.cases + RouteFindings.cases
    // The commands read the key file and ask the server; their tests cover these findings.
    let others: Set<DiagnosticID> = [.invalidKeyFile, .issuerMismatch, .upstreamMetadata]
    #expect(Set(cases.map(\.id)) == Set(DiagnosticID.allCases).subtracting(others))
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
