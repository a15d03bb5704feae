import Gateway
import GatewayTestSupport
import Policy
import Testing
import Time

@Suite("The time after which a sealing key can be retired")
struct SealedLifetimeTests {
  @Test("The refresh tokens of clients that the policy does not list count too")
  func unlistedClients() throws {
    let policy = try FixturePolicy.with { fixture in
      fixture.editAll { $0.refreshIdle = 60 }
      fixture.registration = RegistrationSettings()
      fixture.registration?.rules.enforcement.refreshIdle = 86_400
    }
    #expect(SealedLifetime.longest(under: policy).duration == 86_400)
    var documents = FixturePolicy(policy)
    documents.clientDocuments = ClientDocumentSettings()
    documents.clientDocuments?.rules.enforcement.refreshIdle = 172_800
    let longest = SealedLifetime.longest(under: documents.policy)
    #expect(longest.duration == 172_800)
    #expect(longest.origin == "`refresh_idle` of clients with a metadata document")
  }
}
