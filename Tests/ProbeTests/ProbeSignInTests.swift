import JSON
import LegacyServer
import OAuth
import Testing

@testable import Probe

@Suite("The sign-in of a probe")
struct ProbeSignInTests {
  private static func signIn(
    _ fixture: ProbeFixture, times: Int = 2, edit: @escaping (String) -> String = { $0 }
  ) async -> (probe: Probe, user: SigningUser) {
    let probe = await fixture.probe()
    let user = SigningUser(fixture, times: times)
    user.edit = edit
    await probe.signIn(user)
    return (probe, user)
  }

  @Test("A server without quirks: code, `state`, ignored PKCE, single use, fixed refresh token, comparison, clean-up")
  func plain() async throws {
    let fixture = ProbeFixture()
    let (probe, user) = await Self.signIn(fixture)
    let seen = try #require(probe.observations.signIn)
    #expect(seen.codeLength == 40)
    #expect(seen.codeLength == user.codes.first?.utf8.count)
    #expect(seen.state == .unchanged)
    #expect(seen.redemption?.hasTokens == true)
    #expect(seen.verifier == .ignored)
    #expect(seen.reuse == .refused)
    #expect(seen.hasRefreshToken == true)
    #expect(seen.rotates == false)
    #expect(seen.comparesRedirectURI == true)
    #expect(seen.revoked == true)
    #expect(!seen.commaSeparatedScopes)
    #expect(user.urls.count == 2)
    // A challenge does no harm at a server that ignores it.
    #expect(UpstreamBlock(ProbeReport(probe)).text.contains("\n  pkce: forward\n"))
  }

  @Test("A server that verifies PKCE and uses up the code needs a second sign-in for certainty", arguments: [1, 2])
  func verifies(_ times: Int) async {
    let (probe, _) = await Self.signIn(ProbeFixture { $0.verifiesPKCE = true }, times: times)
    #expect(probe.observations.signIn?.verifier == (times == 1 ? .probablyEnforced : .enforced))
    #expect(probe.observations.signIn?.redemption?.hasTokens == (times == 2))
    #expect(UpstreamBlock(ProbeReport(probe)).text.contains("  pkce: forward\n"))
  }

  @Test("A server that refuses PKCE parameters gets none in the sign-in")
  func refusesPKCE() async {
    let (probe, user) = await Self.signIn(ProbeFixture { $0.refusesPKCEParameters = true })
    #expect(user.urls.allSatisfy { !$0.contains("code_challenge") })
    #expect(probe.observations.signIn?.redemption?.hasTokens == true)
    #expect(probe.observations.signIn?.verifier == nil)
    #expect(!UpstreamBlock(ProbeReport(probe)).text.contains("pkce: forward"))
  }

  @Test("Rotation of refresh tokens, scopes with commas and forms are seen")
  func tokens() async {
    let fixture = ProbeFixture {
      $0.rotatesRefreshTokens = true
      $0.commaSeparatedScopes = true
      $0.tokenFormat = .form
    }
    let probe = await fixture.probe(ProbeFixture.options { $0.scope = "read write" })
    await probe.signIn(SigningUser(fixture))
    #expect(probe.observations.signIn?.rotates == true)
    #expect(probe.observations.signIn?.oldRefreshToken == .refused)
    #expect(probe.observations.signIn?.commaSeparatedScopes == true)
    #expect(probe.observations.signIn?.redemption?.format == .form)
  }

  @Test(
    "A `state` that is lost or changed makes the server unusable", arguments: [("state=", "x="), ("state=", "state=y")])
  func state(_ old: String, _ new: String) async {
    let (probe, _) = await Self.signIn(ProbeFixture(), times: 1) { $0.replacing(old, with: new) }
    #expect(probe.observations.signIn?.state == (new == "x=" ? .missing : .changed))
    #expect(ProbeReport(probe).findings.contains { $0.id == "state" && $0.isWarning })
  }

  @Test("A code of an earlier sign-in is redeemed, as a URL or alone", arguments: [true, false])
  func callback(_ isURL: Bool) async throws {
    let fixture = ProbeFixture()
    let probe = await fixture.probe()
    let user = SigningUser(fixture)
    let url =
      "http://legacy.test:9000/authorize?response_type=code&client_id=legacy-mail&redirect_uri=\(ProbeFixture.redirectURI)"
    let callback = try #require(await user.callback(for: url, purpose: ""))
    await probe.redeemCallback(isURL ? callback : Secret(try #require(user.codes.first)))
    #expect(probe.observations.signIn?.redemption?.hasTokens == true)
    #expect(probe.observations.signIn?.reuse == .refused)
  }

  @Test("A callback with an error has no code, and the report shows the error")
  func error() async {
    let probe = await ProbeFixture().probe()
    await probe.redeemCallback(Secret("https://gateway.test/callback?error=access_denied"))
    #expect(probe.observations.signIn?.codeLength == nil)
    #expect(ProbeReport(probe).text.contains("`error=access_denied`"))
  }

  @Test("No report contains a secret, a code, a token or a `state`, and no request goes elsewhere")
  func secrets() async throws {
    let fixture = ProbeFixture { $0.rotatesRefreshTokens = true }
    let (probe, user) = await Self.signIn(fixture)
    let report = ProbeReport(probe, gatewayIssuer: "https://id.example.com")
    let json = String(decoding: try JSONEncoding.encode(report), as: UTF8.self)
    var dumped = ""
    for request in fixture.transport.requests { dump(request, to: &dumped) }
    let secrets =
      user.codes + [ProbeFixture.secret]
      + fixture.transport.requests.flatMap(\.parameters)
      .filter { ["state", "code", "refresh_token", "token", "code_verifier"].contains($0.name) }.map(\.value)
    #expect(secrets.count > 30)
    for text in [report.text, json, UpstreamBlock(report).policy, dumped] {
      for secret in secrets { #expect(!text.contains(secret)) }
    }
    #expect(fixture.transport.requests.allSatisfy { !$0.parameters.contains { $0.name == "password" } })
  }
}
