import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Telemetry
import Testing
import Time

@Suite("Rates and sizes")
struct RateTests {
  private func policy(_ adjust: (inout LimitSettings) -> Void) throws -> Policy {
    try FixturePolicy.with { adjust(&$0.gateway.limits) }
  }

  private func from(_ address: String) -> Headers { ["X-Forwarded-For": address] }

  /// Sends invalid token requests until one exceeds the limit. Returns the number of requests before it, and the
  /// refusal.
  private func flood(
    _ gateway: GatewayFixture, _ client: String, _ address: (Int) -> String, path: String = "/token"
  ) async throws -> (passed: Int, refusal: Response?) {
    for number in 0..<500 {
      let form: Form = ["grant_type": "authorization_code", "client_id": client, "code": "x", "token": "x"]
      let response = try await gateway.post(path, form, from(address(number)))
      if response.status == 429 { return (number, response) }
    }
    return (500, nil)
  }

  @Test(
    "6819-4.4.1.11: token requests are limited for each IPv4 address and for the first 64 bits of each IPv6 address")
  func address() async throws {
    try await GatewayFixture.run(try policy { $0.tokenRequestsPerAddress = 20 }) { gateway in
      let (passed, refusal) = try await flood(gateway, "p1") { _ in "192.0.2.1" }
      // The bucket refills while a slow machine empties it.
      #expect((20..<200).contains(passed))
      let response = try #require(refusal)
      response.expectTokenError(429, "temporarily_unavailable")
      #expect(Int(response.headers["Retry-After"] ?? "").map { (1...60).contains($0) } == true)
      #expect(response.headers["Content-Type"] == "application/json")
      #expect(response.headers["Cache-Control"] == "no-store")
      let before = gateway.upstream.recorder.count
      _ = try await gateway.post("/token", ["grant_type": "password", "client_id": "w3"], from("192.0.2.1"))
      #expect(gateway.upstream.recorder.count == before)
      let other = try await gateway.post("/token", ["client_id": "p1"], from("192.0.2.2"))
      #expect(other.status == 400)
      let network = try await flood(gateway, "p1") { "2001:db8:0:1::\(String($0 + 1, radix: 16))" }
      #expect((20..<200).contains(network.passed))
      let neighbour = try await gateway.post("/token", ["client_id": "p1"], from("2001:db8:0:2::1"))
      #expect(neighbour.status == 400)
      let revocation = try await flood(gateway, "p1", { _ in "192.0.2.1" }, path: "/revoke")
      #expect(revocation.passed < 20 && revocation.refusal != nil)
      let count = gateway.metrics.snapshot().limits[.tokenRequestsPerAddress] ?? 0
      #expect(count >= 2)
      #expect(gateway.metricsText.contains("proofgate_limits_total{limit=\"token_requests_per_address\"} \(count)"))
      #expect(gateway.logLines.contains { $0.contains(#""rule":"too-many-requests""#) })
    }
  }

  private func refreshToken(_ response: Response) throws -> String {
    String(try #require(response.text.firstMatch(of: /"refresh_token":"([^"]+)"/)?.1, "\(response.text)"))
  }

  private func refresh(_ token: String, _ client: String = "p1") -> Form {
    ["grant_type": "refresh_token", "client_id": client, "refresh_token": token]
  }

  @Test("Uses of a client's own values are limited over all addresses, and other clients are not affected")
  func client() async throws {
    try await GatewayFixture.run(try policy { $0.tokenRequestsPerClient = 20 }) { gateway in
      var response = try await gateway.redeem(try await gateway.code("p1"), "p1", headers: from("192.0.2.250"))
      var token = ""
      var uses = 1
      while response.status == 200, uses < 200 {
        token = try refreshToken(response)
        response = try await gateway.post("/token", refresh(token), from("192.0.2.\(uses)"))
        uses += 1
      }
      // The bucket refills while a slow machine empties it.
      #expect(uses > 20)
      response.expectTokenError(429, "temporarily_unavailable")
      #expect(Int(response.headers["Retry-After"] ?? "").map { (1...60).contains($0) } == true)
      let refusal = try await gateway.expectRefused(post: "/token", refresh(token), from("192.0.2.201"), status: 429)
      refusal.expectTokenError(429, "temporarily_unavailable")
      try await gateway.expectRefused(
        post: "/revoke", ["client_id": "p1", "token": token], from("192.0.2.202"), status: 429)
      let other = try await gateway.post(
        "/token", gateway.tokenForm(try await gateway.code("n1"), "n1"), from("192.0.2.1"))
      #expect(other.status == 200)
      #expect(gateway.metrics.snapshot().limits[.tokenRequestsPerClient] ?? 0 >= 2)
      // After a reload without this limit the client can send requests again. The refused requests used nothing up.
      await gateway.reload { $0.gateway.limits.tokenRequestsPerClient = 0 }
      #expect(try await gateway.post("/token", refresh(token), from("192.0.2.1")).status == 200)
    }
  }

  @Test(
    "Requests that can be repeated without an effect do not use up the limit of their client",
    arguments: [
      "used code", "ended refresh token", "revoked refresh token", "refresh token that the server refuses",
      "pending device flow",
    ])
  func repeated(kind: String) async throws {
    let limited = try policy { $0.tokenRequestsPerClient = 8 }
    try await GatewayFixture.run(limited) { gateway in
      let client = kind.contains("device") ? "tv1" : "p1"
      var form: Form
      var path = "/token"
      if client == "tv1" {
        let started = try await gateway.post("/device_authorization", ["client_id": "tv1", "scope": "read"])
        let code = try #require(started.text.firstMatch(of: /"device_code":"([^"]+)"/)?.1, "\(started.text)")
        form = [
          "grant_type": "urn:ietf:params:oauth:grant-type:device_code", "client_id": "tv1", "device_code": String(code),
        ]
      } else {
        let code = try await gateway.code("p1")
        let token = try refreshToken(try await gateway.redeem(code, "p1"))
        form = kind == "used code" ? gateway.tokenForm(code, "p1") : refresh(token)
        if kind.hasPrefix("ended") { _ = try await gateway.post("/revoke", ["client_id": "p1", "token": token]) }
        if kind.hasPrefix("revoked") {
          path = "/revoke"
          form = ["client_id": "p1", "token": token]
        }
      }
      if kind.hasSuffix("refuses") {
        gateway.upstream.script { request in
          guard request.path == "/token" else { return nil }
          return Response(
            status: 400, headers: ["Content-Type": "application/json"], body: Array(#"{"error":"invalid_grant"}"#.utf8))
        }
      }
      for number in 0..<40 {
        let response = try await gateway.post(path, form, from("192.0.2.\(number % 12 + 1)"))
        #expect(response.status != 429, "\(number): \(response.text)")
      }
      gateway.upstream.script(nil)
      let victim = try await gateway.code("p1")
      #expect(try await gateway.redeem(victim, "p1", headers: from("198.51.100.1")).status == 200)
    }
  }

  @Test("Revocations of a login that has ended are limited by login and network")
  func endedLogin() async throws {
    try await GatewayFixture.run { gateway in
      let tokens = [
        try refreshToken(try await gateway.redeem(try await gateway.code("p1"), "p1")),
        try refreshToken(try await gateway.redeem(try await gateway.code("p1"), "p1")),
      ]
      func revoke(_ token: String, _ address: String) async throws -> Int {
        try await gateway.post("/revoke", ["client_id": "p1", "token": token], from(address)).status
      }
      var statuses: [Int] = []
      while statuses.count < 300, statuses.last != 429 {
        statuses.append(try await revoke(tokens[0], "192.0.2.\(statuses.count % 250)"))
      }
      #expect(statuses.count > 60 && statuses.last == 429)
      #expect(try await revoke(tokens[0], "198.51.100.1") == 200)
      #expect(try await revoke(tokens[1], "192.0.2.1") == 200)
    }
  }

  @Test("Requests that only name a client do not use up its limit", arguments: ["p1", "w1", "w3"])
  func naming(client: String) async throws {
    let secrets = ["w1": "w1secret", "w3": "w3secret"]
    try await GatewayFixture.run(try policy { $0.tokenRequestsPerClient = 5 }) { gateway in
      let code = try await gateway.code(client)
      let floods: [Form] = [
        [
          "grant_type": "authorization_code", "client_id": client, "code": "x",
          "code_verifier": GatewayFixture.verifier,
        ],
        ["grant_type": "refresh_token", "client_id": client, "refresh_token": "x", "client_secret": "wrong"],
        ["client_id": client, "token": "x"],
      ]
      for number in 0..<20 {
        for form in floods {
          let path = form["token"] == nil ? "/token" : "/revoke"
          let response = try await gateway.post(path, form, from("192.0.2.\(number + 1)"))
          #expect(response.status != 429)
        }
      }
      let response = try await gateway.redeem(code, client, headers: from("198.51.100.1")) { form in
        if let secret = secrets[client] { form.append("client_secret", secret) }
      }
      #expect(response.status == 200, "\(response.text)")
    }
  }

  @Test(
    "The body of an OAuth request may have the length that the policy gives, and no byte more",
    arguments: ["/token", "/authorize"])
  func body(path: String) async throws {
    try await GatewayFixture.run(try policy { $0.body = 4_096 }) { gateway in
      for (length, isRefused) in [(4_096, false), (4_097, true)] {
        var form: Form = ["client_id": "p1", "padding": ""]
        form.set("padding", String(repeating: "x", count: length - form.encoded.utf8.count))
        let response = try await gateway.post(path, form)
        #expect((response.status == 413) == isRefused)
        if isRefused { #expect(response.text.contains("4096 bytes")) }
      }
      #expect(gateway.metrics.snapshot().limits[.body] == 1)
    }
  }

  @Test("A flood of other requests leaves upstream connections for sign-ins")
  func reserve() async throws {
    let policy = try FixturePolicy.with {
      $0.upstream.maxConnections = 4
      $0.upstream.reservedConnections = 2
    }
    try await GatewayFixture.run(policy) { gateway in
      let gate = Gate()
      gateway.upstream.script { request in
        guard request.path == "/slow" else { return nil }
        await gate.pass()
        return Response(status: 204)
      }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<4 { group.addTask { _ = try await gateway.get("/slow") } }
        await gate.someoneWaits()
        let begun = try await gateway.get(gateway.authorizationTarget("p1"))
        #expect(begun.status == 302 && begun.location?.contains("error=") == false)
        await gate.open()
        try await group.waitForAll()
      }
    }
  }

  @Test("A clock that jumps forward makes codes expire, and a jump back never lets a used code pass again")
  func clockJumps() async throws {
    try await GatewayFixture.run { gateway in
      let late = try await gateway.code("p1")
      gateway.clock.advance(by: 3_600)
      let expired = try await gateway.redeem(late, "p1")
      expired.expectTokenError(400, "invalid_grant")
      gateway.clock.advance(by: -3_600)
      // At its own time the code is still valid: the refused attempt did not use it up.
      let redeemed = try await gateway.redeem(late, "p1")
      #expect(redeemed.status == 200)
      for jump: Seconds in [86_400, -86_400, -86_400, 86_400] {
        gateway.clock.advance(by: jump)
        let again = try await gateway.redeem(late, "p1")
        again.expectTokenError(400, "invalid_grant")
      }
      gateway.clock.advance(by: -7_200)
      let early = try await gateway.code("p1")
      let response = try await gateway.redeem(early, "p1")
      #expect(response.status == 200)
    }
  }
}
