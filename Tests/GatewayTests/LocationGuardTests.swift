import GatewayTestSupport
import HTTP
import OAuth
import Policy
import Testing

@testable import Gateway

@Suite("I-path: guarded locations")
struct LocationGuardTests {
  private func leaksAuthorizationResponse(_ field: String) throws -> Bool {
    LocationGuard(try FixturePolicy.with()).leaksAuthorizationResponse(field)
  }

  @Test(
    "I-path: a response is recognised in every spelling that a browser or an app resolves to it",
    arguments: [
      "https://gw.example/.proofgate/callback?code=c", "//gw.example/.proofgate/callback?code=c",
      "//other.example/.proofgate/callback?code=c", "/.proofgate/callback?code=c", ".proofgate/callback?code=c",
      "/x/../.proofgate/callback?code=c", "/%2eproofgate/callback?code=c", "/.proofgate//callback/?code=c",
      "\\.proofgate\\callback?code=c", "/.proofgate/callback?%63ode=c", "/.proofgate/call\tback?code=c",
      "HTTPS://GW.EXAMPLE:443/.proofgate/callback?code=c", "https:gw.example/.proofgate/callback?code=c",
      "https:/.proofgate/callback?code=c", "https:.proofgate/callback?code=c",
      "https:////gw.example./.proofgate/callback?code=c", "https://user@app.example.com:0443/cb?code=c",
      "https://APP.example.com/cb?code=c", "https://app.example.com/c%62#access_token=t", "COM.example.app:/cb?code=c",
      "com.example.app://host/other?code=c", " com.example.app:/cb?code=c", "HTTP://127.0.0.1:9/x?code=c",
      "http://[::1]:9/x?code=c", "http://LOCALHOST/x?code=c", "0;url=COM.example.app:/cb?code=c",
      "0; URL='//gw.example/.proofgate/callback?code=c'", "5,https://app.example.com:443/cb?code=c",
      "https://app.example.com/x%D8%80/../cb?code=c", "https://app.example.com/x\u{600}/../cb?code=c",
      "https://app.example.com/cb\u{600}/..//cb?code=c", "https://app.example.com/cb?\u{301}&code=c",
      "https://\u{ff41}pp.example.com/cb?code=c", "https://%EF%BD%81pp.example.com/cb?code=c",
      "com.example.app:/cb?c\tode=c", "com.example.app:/cb?code\t=c",
    ])
  func known(field: String) throws {
    #expect(try leaksAuthorizationResponse(field))
  }

  @Test("The search for a code costs no more for bytes that are not UTF-8, and finds what is behind them")
  func notUTF8() throws {
    let other = FieldText.decode([UInt8](repeating: 0xff, count: 50))
    #expect(try leaksAuthorizationResponse("https://gw.example/\(other)/../.proofgate/callback?\(other)&code=\(other)"))
    #expect(try leaksAuthorizationResponse("https://\(other).example/?code=a"))
    #expect(try !leaksAuthorizationResponse("https://elsewhere.example/cb?co\(other)de=c"))
  }

  @Test(
    "I-path: a location elsewhere, or without a code or token, passes",
    arguments: [
      "/login?code=c", "https://gw.example/mfa?code=c", "https://elsewhere.example/cb?code=c", "/.proofgate/callback",
      "https://app.example.com/cb", "https://app.example.com/other?code=c", "https://app.example.com:444/cb?code=c",
      "com.example.application:/cb?code=c", "mailto:code=c@example.com", "0;url=/login?code=c", "", "//", "https://",
    ])
  func other(field: String) throws {
    #expect(try !leaksAuthorizationResponse(field))
  }

  @Test("I-path: the complete redirect URI of a shared upstream client is protected")
  func sharedUpstreamClients() throws {
    let upstream = UpstreamClient(
      clientID: ClientID("shared"), clientSecret: Secret("s"), authentication: .basic,
      redirectURI: .fixed("https://legacy.example/cb"))
    let uri = try #require(ResourceURI(parsing: "https://mail.example.com/"))
    for place in ["none", "registration", "client_documents", "resources"] {
      let locations = LocationGuard(
        try FixturePolicy.with { policy in
          switch place {
          case "registration":
            policy.registration = RegistrationSettings()
            policy.registration?.rules.upstream = upstream
          case "client_documents":
            policy.clientDocuments = ClientDocumentSettings()
            policy.clientDocuments?.upstream = upstream
          case "resources":
            var resource = ResourceSettings(uri: uri)
            resource.upstream.client = upstream
            policy.resources = [resource]
          default: break
          }
        })
      #expect(locations.leaksAuthorizationResponse("https://legacy.example/cb?code=c") == (place != "none"), "\(place)")
    }
  }

  @Test("I-path: on a loopback origin, codes between pages of that origin pass")
  func loopbackOrigin() throws {
    let locations = LocationGuard(
      try FixturePolicy.with(origin: Origin(scheme: .http, host: "127.0.0.1", port: 8080)) { _ in })
    #expect(!locations.leaksAuthorizationResponse("/mfa?code=1"))
    #expect(!locations.leaksAuthorizationResponse("http://127.0.0.1:8080/mfa?code=1"))
    #expect(locations.leaksAuthorizationResponse("http://127.0.0.1:8081/mfa?code=1"))
    #expect(locations.leaksAuthorizationResponse("http://127.0.0.1:8080/.proofgate/callback?code=1"))
  }
}
