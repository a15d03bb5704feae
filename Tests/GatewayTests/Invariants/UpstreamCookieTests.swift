import GatewayTestSupport
import HTTP
import LegacyServer
import Testing

@Suite("I-browser: cookies of the upstream")
struct UpstreamCookieTests {
  @Test("I-browser: the redirect that replaces a page keeps the upstream's cookies, as Secure, and drops forged ones")
  func moved() async throws {
    try await GatewayFixture.run { gateway in
      gateway.upstream.script { request in
        guard request.path == "/authorize" else { return nil }
        var response = Response(status: 200, headers: ["Content-Type": "text/html"], body: Array("a page".utf8))
        for cookie in ["sid=1; HttpOnly", "__Host-proofgate=evil; Secure; Path=/", "__HOST-proofgate =evil; Secure"] {
          response.headers.append("Set-Cookie", cookie)
        }
        return response
      }
      let response = try await gateway.get(gateway.authorizationTarget("p1"))
      #expect(response.status == 302)
      let cookies = response.headers.all("Set-Cookie")
      #expect(cookies.count == 2)
      #expect(cookies.first == "sid=1; HttpOnly; Secure")
      #expect(cookies.last?.hasPrefix("__Host-proofgate=") == true)
      #expect(!cookies.contains { $0.contains("evil") })
    }
  }
}
