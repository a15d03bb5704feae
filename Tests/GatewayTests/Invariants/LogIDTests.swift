import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Testing

/// The ids that connect the lines of the decision log.
@Suite("The ids of the decision log")
struct LogIDTests {
  @Test("Each line has the id of its request, 128 bits that are unique to the request")
  func requests() async throws {
    try await GatewayFixture.run { gateway in
      _ = try await gateway.get(gateway.authorizationTarget("p1"))
      _ = try await gateway.get(gateway.authorizationTarget("nobody"))
      _ = try await gateway.get("/authorize/")
      _ = try await gateway.get("/elsewhere?response_type=code&client_id=p1")
      _ = try await gateway.redeem("x", "p1")
      gateway.upstream.script { _ in Response(status: 302, headers: ["Location": "com.example.p1:/cb?code=c"]) }
      _ = try await gateway.get("/login")
      let ids = gateway.logLines.map { $0.member("request") }
      #expect(ids.count == 6)
      #expect(ids.allSatisfy { $0?.utf8.count == 22 }, "\(ids)")
      #expect(Set(ids).count == 6)
    }
  }

  @Test("Two lines about one request have the same id")
  func twoLines() async throws {
    try await GatewayFixture.run(try ObserveTests.observing()) { gateway in
      gateway.upstream.script { _ in
        Response(status: 302, headers: ["Location": "com.example.p1:/cb?code=rawcode0123456&state=s1"])
      }
      for _ in 0..<2 { _ = try await gateway.get("/elsewhere?response_type=code&client_id=p1&state=s1") }
      let lines = gateway.logLines
      try #require(lines.count == 4)
      #expect(lines[0].contains("would-reject:unlisted-oauth"))
      #expect(lines[1].contains(#""code":""#))
      let ids = lines.compactMap { $0.member("request") }
      #expect(ids.count == 4 && ids[0] == ids[1] && ids[2] == ids[3] && ids[0] != ids[2], "\(ids)")
    }
  }

  @Test("Two workers give their requests different ids")
  func workers() async throws {
    try await GatewayFixture.run(workers: 2) { gateway in
      for _ in 0..<8 { _ = try await gateway.get("/authorize/") }
      #expect(Set(gateway.logLines.map { $0.member("request") }).count == 8)
    }
  }

  @Test("Each request of a keep-alive connection has an id of its own")
  func keepAlive() async throws {
    try await GatewayFixture.run { gateway in
      let request = "GET /authorize/ HTTP/1.1\r\nHost: gw.example\r\nX-Forwarded-Proto: https\r\n"
      let both = request + "\r\n" + request + "Connection: close\r\n\r\n"
      _ = try await ClientLoop.sendRaw(Array(both.utf8), toPort: gateway.port)
      let ids = gateway.logLines.map { $0.member("request") }
      #expect(ids.count == 2 && ids[0] != ids[1], "\(ids)")
    }
  }

  @Test("All lines of a sign-in have the same transaction, from the consent page to the redemption")
  func transaction() async throws {
    try await GatewayFixture.run { gateway in
      let code = try await gateway.code("n1")
      #expect(try await gateway.redeem(code, "n1").status == 200)
      let lines = gateway.logLines
      #expect(lines.first?.contains(#""endpoint":"authorization""#) == true)
      #expect(lines.last?.contains(#""endpoint":"token""#) == true)
      let ids = Set(lines.map { $0.member("transaction") })
      #expect(lines.count >= 4 && ids.count == 1 && ids.first??.utf8.count == 32, "\(lines)")
    }
  }

  @Test("A pushed sign-in has the same transaction from the push on")
  func pushed() async throws {
    let policy = try FixturePolicy.with { policy in
      policy.upstream.endpoints.pushedAuthorization = ["/par"]
      policy.editAll { $0.pushedAuthorization = .optional }
    }
    try await GatewayFixture.run(policy) { gateway in
      let request = Form(decoding: gateway.authorizationTarget("p1").split(separator: "?").last ?? "")
      let answer = try await gateway.post("/par", request)
      let uri = try #require(answer.text.firstMatch(of: /"request_uri":"([^"]+)"/)?.1)
      let form: Form = ["client_id": "p1", "request_uri": String(uri)]
      #expect(try await gateway.get(form.added(to: "/authorize")).status < 400)
      let ids = gateway.logLines.map { $0.member("transaction") }
      #expect(ids.count == 2 && ids[0] != nil && ids[0] == ids[1], "\(gateway.logLines)")
    }
  }

  @Test("The line of a sign-in that cannot begin, or of a refused response, has the transaction")
  func refused() async throws {
    try await GatewayFixture.run { gateway in
      _ = try await gateway.get(
        gateway.authorizationTarget("p1") { $0.set("state", String(repeating: "s", count: 3_000)) })
      #expect(gateway.logLines.last?.member("transaction") != nil)
      let begun = try await gateway.begin()
      let id = try gateway.transaction(of: begun).id.description
      gateway.upstream.script { _ in
        Response(status: 302, headers: ["Location": "https://gw.example/.proofgate/callback?code=c"])
      }
      let answer = try await gateway.get(begun.target, Headers.cookies([begun.cookie]))
      #expect(answer.status == 502)
      #expect(gateway.logLines.last?.member("transaction") == id)
    }
  }

  @Test("Each line of a sign-in has its step, and those of the token endpoint have the grant")
  func steps() async throws {
    try await GatewayFixture.run { gateway in
      let tokens = try await gateway.redeem(try await gateway.code("n1"), "n1")
      let token = try #require(tokens.text.firstMatch(of: /"refresh_token":"([^"]+)"/)?.1)
      let form: Form = ["grant_type": "refresh_token", "refresh_token": String(token), "client_id": "n1"]
      _ = try await gateway.post("/token", form)
      _ = try await gateway.post("/token", ["grant_type": "of-nobody", "client_id": "n1"])
      let lines = gateway.logLines
      let steps = lines.map { $0.member("step") ?? "-" }
      let expected = ["consent_page", "consent", "login", "login", "code", "tokens", "tokens"]
      #expect(steps.filter { $0 != "-" } == expected, "\(steps)")
      #expect(steps.last == "-")
      #expect(lines.suffix(3).map { $0.member("grant") } == ["authorization_code", "refresh_token", "other"])
    }
  }
}
