import GatewayTestSupport
import HTTP
import LegacyServer
import Testing

@Suite("I-pages: the upstream's login and consent pages")
struct InteractionPagesTests {
  private func policies(_ response: Response) -> [String] { response.headers.all("Content-Security-Policy") }

  @Test(
    "I-pages: inside a transaction form-action is removed from the upstream's Content-Security-Policy",
    arguments: [
      ("default-src 'self'; form-action 'self'; script-src 'self'", "default-src 'self'; script-src 'self'"),
      ("form-action 'self'", nil), ("FORM-ACTION 'none';default-src 'self'", "default-src 'self'"),
      (
        "default-src 'self'; form-action 'self', script-src 'self'; form-action 'none'",
        "default-src 'self', script-src 'self'"
      ),
      ("default-src 'self', form-action 'none'", "default-src 'self'"),
      ("default-src 'self';\tform-action 'self'", "default-src 'self'"), ("form-action \u{301}'self'", nil),
    ] as [(String, String?)])
  func formAction(sent: String, kept: String?) async throws {
    try await GatewayFixture.run { gateway in
      let begun = try await gateway.begin()
      gateway.upstream.script { _ in
        Response(status: 200, headers: ["Content-Security-Policy": sent], body: Array("page".utf8))
      }
      let cookie = Headers.cookies([begun.cookie])
      for response in [
        try await gateway.get(begun.target, cookie), try await gateway.get("/login", cookie),
        try await gateway.post("/authorize", ["password": "x"], cookie),
      ] {
        #expect(policies(response) == [kept, "frame-ancestors 'none'"].compactMap(\.self))
      }
    }
  }

  @Test("I-pages: outside of a transaction the upstream's pages are unchanged")
  func outside() async throws {
    try await GatewayFixture.run { gateway in
      gateway.upstream.script { _ in
        Response(status: 200, headers: ["Content-Security-Policy": "form-action 'self'"], body: Array("page".utf8))
      }
      let response = try await gateway.get("/login")
      #expect(policies(response) == ["form-action 'self'"])
      #expect(!response.headers.contains("X-Frame-Options"))
    }
  }

  @Test("I-pages: login and consent pages cannot be framed and send a referrer to their own origin only")
  func framing() async throws {
    try await GatewayFixture.run { gateway in
      let session = try await gateway.legacySession()
      let begun = try await gateway.begin(cookies: [session])
      for target in [begun.target, "/login"] {
        let response = try await gateway.get(target, Headers.cookies([begun.cookie, session]))
        #expect(response.status == 200)
        #expect(response.headers.all("X-Frame-Options") == ["DENY"])
        #expect(policies(response) == ["frame-ancestors 'none'"])
        #expect(response.headers["Referrer-Policy"] == "same-origin")
      }
    }
  }

  @Test("I-pages: the gateway's own pages have a strict Content-Security-Policy without form-action")
  func ownPages() async throws {
    try await GatewayFixture.run { gateway in
      let begun = try await gateway.begin()
      let pages = [
        try await gateway.get(gateway.authorizationTarget("n1")),
        try await gateway.get(gateway.authorizationTarget("nobody")),
        try await gateway.get(begun.target), try await gateway.post("/.proofgate/consent", [:]),
        try await gateway.get("/%61uthorize", ["Accept": "text/html"]),
        try await gateway.get("/.proofgate/callback?state=x"),
      ]
      for page in pages {
        #expect(page.headers["Content-Type"]?.hasPrefix("text/html") == true)
        let policy = try #require(page.headers["Content-Security-Policy"])
        #expect(policy.contains("default-src 'none'"))
        #expect(policy.contains("frame-ancestors 'none'"))
        #expect(!policy.contains("form-action"))
        #expect(page.headers["X-Frame-Options"] == "DENY")
        #expect(page.headers["Cache-Control"] == "no-store")
        #expect(page.headers["X-Content-Type-Options"] == "nosniff")
      }
    }
  }
}
