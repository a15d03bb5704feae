import GatewayTestSupport
import HTTP
import LegacyServer
import Policy
import Testing

/// Sign-ins that end with codes which the server did not issue for them.
@Suite("I-completion: guesses of the server's codes")
struct CodeGuessTests {
  private static func policy(_ callback: CallbackMode) throws -> Policy {
    try FixturePolicy.with {
      $0.upstream.callback = callback
      $0.upstream.callbackRisk = .accepted
    }
  }

  private static func headers(from address: String, _ cookie: String? = nil) -> Headers {
    var headers: Headers = ["X-Forwarded-For": address]
    if let cookie { headers.append("Cookie", cookie) }
    return headers
  }

  /// Ends a sign-in with a code of the thief's choice: a page of the server repeats it, or the thief sends it to the
  /// callback.
  private static func end(
    _ begun: Begun, _ code: String, from address: String, _ gateway: GatewayFixture
  ) async throws -> Response {
    let answer: Form = ["code": code, "state": begun.state]
    guard gateway.policy.upstream.callback == .inPlace else {
      return try await gateway.get(
        answer.added(to: "/.proofgate/callback"), headers(from: address, begun.cookie))
    }
    gateway.upstream.script { request in
      guard request.path == "/authorize" else { return nil }
      return Response(
        status: 302, headers: ["Location": answer.added(to: "https://gw.example/.proofgate/callback")])
    }
    defer { gateway.upstream.script(nil) }
    return try await gateway.get(begun.target, headers(from: address, begun.cookie))
  }

  private static func redeem(_ answer: Response, _ gateway: GatewayFixture) async throws -> Response {
    try await gateway.redeem(try #require(answer.answer["code"]), "p1", "com.example.p1:/cb")
  }

  private static func redemptions(_ gateway: GatewayFixture) -> Int {
    gateway.upstream.recorder.requests(to: "/token").count
  }

  private static func expectPage(_ page: Response, _ gateway: GatewayFixture) {
    #expect(page.status == 429)
    #expect(page.location == nil)
    #expect(page.text.contains("code-attempts"))
    #expect(Int(page.headers["Retry-After"] ?? "").map { $0 > 0 } == true)
    #expect(gateway.logLines.last?.contains(#""rule":"code-attempts""#) == true)
    #expect(gateway.metricsText.contains(#"rule="code-attempts""#))
  }

  @Test(
    "6749-10.10-code-guesses: after six codes that the server refused, a browser gets no more sealed codes",
    arguments: [CallbackMode.inPlace, .atCallback])
  func browser(callback: CallbackMode) async throws {
    try await GatewayFixture.run(try Self.policy(callback)) { gateway in
      let begun = try await gateway.begin()
      var kept: [Response] = []
      // Codes of the same browser that were sealed earlier are refused as well.
      for number in 0..<3 { kept.append(try await Self.end(begun, "kept\(number)", from: "192.0.2.1", gateway)) }
      var sent = 0
      while sent < 20 {
        // Each comes from another network.
        let answer = try await Self.end(begun, "guess\(sent)", from: "198.51.\(sent).1", gateway)
        guard answer.status != 429 else {
          Self.expectPage(answer, gateway)
          break
        }
        try await Self.redeem(answer, gateway).expectTokenError(400, "invalid_grant")
        sent += 1
      }
      // A slow machine gives the bucket time to refill.
      #expect((6...8).contains(sent))
      let before = Self.redemptions(gateway)
      var refusals: [Response] = []
      for answer in kept { refusals.append(try await Self.redeem(answer, gateway)) }
      #expect(refusals.contains { $0.status == 429 })
      for refusal in refusals where refusal.status == 429 {
        refusal.expectTokenError(429, "temporarily_unavailable")
        #expect(refusal.headers["Retry-After"] != nil)
      }
      #expect(Self.redemptions(gateway) < before + kept.count)
      // Others sign in, also from the same network.
      let other = try await gateway.code("p1")
      #expect(try await gateway.redeem(other, "p1").status == 200)
    }
  }

  @Test(
    "6749-10.10-code-guesses: browsers that delete their cookies are counted by network, and other networks are not",
    arguments: [CallbackMode.inPlace, .atCallback])
  func network(callback: CallbackMode) async throws {
    try await GatewayFixture.run(try Self.policy(callback)) { gateway in
      var sent = 0
      while sent < 100 {
        let answer = try await Self.end(
          try await gateway.begin(), "guess\(sent)", from: "192.0.2.\(sent)", gateway)
        guard answer.status != 429 else {
          Self.expectPage(answer, gateway)
          break
        }
        #expect(try await Self.redeem(answer, gateway).status == 400)
        sent += 1
      }
      #expect((30..<60).contains(sent))
      #expect(Self.redemptions(gateway) == sent)
      let other = try await Self.end(try await gateway.begin(), "other", from: "198.51.100.1", gateway)
      #expect(other.answer["code"] != nil)
    }
  }

  @Test("6749-10.10-code-guesses: many guesses at the same time reach the server no more often than the limit permits")
  func concurrent() async throws {
    try await GatewayFixture.run(try Self.policy(.inPlace)) { gateway in
      let begun = try await gateway.begin()
      var answers: [Response] = []
      for number in 0..<60 {
        answers.append(try await Self.end(begun, "guess\(number)", from: "192.0.2.1", gateway))
      }
      let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
        for answer in answers { group.addTask { try await Self.redeem(answer, gateway).status } }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      // 48 attempts may be in progress while their results are not known.
      #expect(Self.redemptions(gateway) <= 50)
      #expect(statuses.contains(429))
    }
  }

  @Test("6749-10.10-code-guesses: failures of the server, repeats and ordinary sign-ins of a browser count for nothing")
  func ordinary() async throws {
    try await GatewayFixture.run(try Self.policy(.inPlace)) { gateway in
      let begun = try await gateway.begin()
      for (number, status) in [500, 503, 429, 502, 500, 500, 503, 500, 500, 500].enumerated() {
        let answer = try await Self.end(begun, "failing\(number)", from: "192.0.2.1", gateway)
        gateway.upstream.script { request in
          guard request.path == "/token" else { return nil }
          return Response(
            status: status, headers: ["Content-Type": "application/json"],
            body: Array(#"{"error":"invalid_grant"}"#.utf8))
        }
        #expect(try await Self.redeem(answer, gateway).status >= 500)
        gateway.upstream.script(nil)
        // The server may have used up the code in the first attempt.
        if number < 3 { #expect(try await Self.redeem(answer, gateway).status == 502) }
      }
      let session = try await gateway.legacySession()
      let cookies = [begun.cookie, session]
      for _ in 0..<10 {
        let next = try await gateway.begin(cookies: cookies)
        let answer = try await gateway.allow(next, cookies: cookies)
        #expect(try await Self.redeem(answer, gateway).status == 200)
        // The second use does not reach the server.
        #expect(try await Self.redeem(answer, gateway).status == 400)
      }
    }
  }
}
