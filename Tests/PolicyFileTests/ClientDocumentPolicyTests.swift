import Cryptography
import OAuth
import Policy
import TLSTestSupport
import Testing

@testable import PolicyFile

@Suite("The mapping `client_documents`")
struct ClientDocumentPolicyTests {
  private static let files = Result {
    ["ca.pem": String(decoding: try TestCertificates.bytes("server-ca.pem"), as: UTF8.self)]
  }

  private static func load(_ mapping: String, environment: [String: String] = [:]) throws -> PolicyFile.Outcome {
    try PolicyFolder.load(FindingCase.base + mapping, files: try files.get(), environment: environment)
  }

  @Test("All settings of the mapping reach the policy")
  func complete() throws {
    let outcome = try Self.load(
      """
      client_documents:
        urls: [https://app.example/oauth/, "https://other.example:8443/client.json"]
        scopes: [mail, openid]
        redirects: { https: app.example, loopback: true }
        upstream: { client_id: legacy }
        ca: ca.pem
        deny: { ids: https://app.example/oauth/bad.json, hosts: .bad.example }
      """)
    let settings = try #require(outcome.policy?.clientDocuments, "\(outcome.diagnostics)")
    #expect(settings.urls == ["https://app.example/oauth/", "https://other.example:8443/client.json"])
    #expect(settings.scopes == ["mail", "openid"])
    #expect(settings.redirects.loopback)
    #expect(settings.upstream.clientID == ClientID("legacy"))
    #expect(settings.upstream.redirectURI == .callback)
    #expect(settings.authorities != nil)
    #expect(settings.url("https://app.example/oauth/client.json") != nil)
    #expect(settings.url("https://app.example/oauth/bad.json") == nil)
    #expect(settings.url("https://app.example.evil/oauth/client.json") == nil)
    #expect(settings.url("https://app.example/users/client.json") == nil)
    #expect(settings.url("https://other.example/client.json") == nil)
  }

  @Test("`known` means the documents of known programs, each of which is a valid URL")
  func known() throws {
    let outcome = try Self.load(
      """
      client_documents:
        urls: [known, https://app.example/oauth/client.json]
        scopes: mail
        upstream: { client_id: legacy }
        ca: ca.pem
      registration:
        scopes: mail
        redirects: { https: [claude.ai, chatgpt.com, vscode.dev] }
        upstream: { client_id: legacy }
      """)
    let settings = try #require(outcome.policy?.clientDocuments, "\(outcome.diagnostics)")
    #expect(settings.urls.count == ClientDocumentSettings.known.count + 1)
    for id in settings.urls { #expect(settings.url(id) != nil, "\(id)") }
    #expect(settings.url("https://chatgpt.com/oauth/client.json") != nil)
    #expect(settings.url("https://chatgpt.com/oauth/other.json") == nil)
    #expect(!outcome.diagnostics.contains { $0.id == .registeredHost })
  }

  @Test("Wrong URLs, missing limits, and loopback documents of a public gateway are errors")
  func errors() throws {
    let outcome = try Self.load(
      """
      client_documents:
        urls: [http://app.example/c, "https://app.example", "https://app.example/c?x", "https://127.0.0.1/c"]
        upstream: { redirect_uri: requested }
        ca: ca.pem
        allow_loopback: true
      """)
    #expect(outcome.policy == nil)
    let messages = outcome.diagnostics.filter { $0.severity == .error }.map(\.message)
    #expect(messages.count { $0.contains("use an https URL with a path") } == 4)
    #expect(messages.contains { $0.contains("`scopes`") })
    #expect(messages.contains { $0.contains("`client_id`") })
    #expect(messages.contains { $0.contains("use `redirect_uri: callback`") })
    #expect(messages.contains { $0.contains("`allow_loopback`") })
  }

  @Test("The authorities are those in SSL_CERT_FILE if `ca` names none")
  func environment() throws {
    let mapping = """
      client_documents:
        urls: https://app.example/oauth/
        scopes: mail
        upstream: { client_id: legacy }
      """
    let path = TestCertificates.path("server-ca.pem")
    let outcome = try Self.load(mapping, environment: ["SSL_CERT_FILE": path])
    let expected = try TestCertificates.chain("server-ca")
    #expect(outcome.policy?.clientDocuments?.authorities?.validity == expected.validity)
    let broken = try Self.load(mapping, environment: ["SSL_CERT_FILE": path + ".missing"])
    #expect(broken.policy == nil)
  }
}
