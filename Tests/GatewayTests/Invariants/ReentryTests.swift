import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Testing

@Suite("I-reentry")
struct ReentryTests {
  static let changes: [(String, String)] = [
    ("client_id", "p1"), ("client_id", "legacy-native"), ("redirect_uri", "com.example.p1:/cb"),
    ("redirect_uri", "https://gw.example/.proofgate/callback/"), ("response_type", "token"),
    ("response_type", "code token"), ("response_mode", "fragment"), ("response_mode", "form_post"),
    ("request_uri", "https://x.example/"), ("request", "x"), ("code_challenge", GatewayFixture.challenge),
    ("code_challenge_method", "S256"), ("state", "other"),
  ]

  @Test("I-reentry: a changed client_id, redirect URI, type, mode or state is refused with 400", arguments: changes)
  func changed(name: String, value: String) async throws {
    try await GatewayFixture.run { gateway in
      let begun = try await gateway.begin()
      let session = try await gateway.legacySession()
      let cookies = Headers.cookies([begun.cookie, session])
      var replaced = begun.query
      replaced.set(name, value)
      var added = begun.query
      added.append(name, value)
      for form in [replaced, added] {
        let response = try await gateway.expectRefused(get: form.added(to: "/authorize"), cookies, status: 400)
        #expect(response.location == nil)
        try await gateway.expectRefused(post: "/authorize", form, cookies, status: 400)
      }
      // Unchanged in one place and changed in the other.
      try await gateway.expectRefused(post: begun.target, [name: value], cookies, status: 400)
      try await gateway.expectRefused(
        post: Form([.init(name: name, value: value)]).added(to: "/authorize"), begun.query, cookies, status: 400)
    }
  }

  @Test("I-reentry: a request with the state alone goes upstream")
  func absent() async throws {
    try await GatewayFixture.run { gateway in
      let begun = try await gateway.begin()
      let response = try await gateway.get("/authorize?state=\(begun.state)", Headers.cookies([begun.cookie]))
      // The legacy server needs more parameters; this test checks only that the request reached it.
      #expect(gateway.upstream.recorder.requests.last?.target == "/authorize?state=\(begun.state)")
      #expect(response.status == 400)
    }
  }

  @Test(
    "I-reentry: scope may narrow and never widen",
    arguments: [("read", true), ("read write", true), ("read admin", false), ("admin", false)])
  func scope(scope: String, isAccepted: Bool) async throws {
    try await GatewayFixture.run { gateway in
      let begun = try await gateway.begin { $0.append("scope", "read write") }
      let session = try await gateway.legacySession()
      let before = gateway.upstream.recorder.count
      let response = try await gateway.allow(begun, cookies: [begun.cookie, session]) { $0.set("scope", scope) }
      #expect(response.status == (isAccepted ? 303 : 400))
      #expect(gateway.upstream.recorder.count == before + (isAccepted ? 1 : 0))
    }
  }

  @Test("I-reentry: a consent form may contain the upstream's default scope if the app requested none")
  func scopeFromNothing() async throws {
    try await GatewayFixture.run { gateway in
      let begun = try await gateway.begin()
      let session = try await gateway.legacySession()
      let response = try await gateway.allow(begun, cookies: [begun.cookie, session]) { $0.append("scope", "profile") }
      #expect(response.location?.hasPrefix("com.example.p1:/cb?code=") == true)
    }
  }

  @Test("I-reentry: a consent form may post empty PKCE fields, which count as omitted")
  func emptyFields() async throws {
    try await GatewayFixture.run { gateway in
      let begun = try await gateway.begin()
      let session = try await gateway.legacySession()
      let response = try await gateway.allow(begun, cookies: [begun.cookie, session]) {
        $0.append("code_challenge", "")
        $0.append("code_challenge_method", "")
      }
      #expect(response.location?.hasPrefix("com.example.p1:/cb?code=") == true)
    }
  }

  @Test("I-reentry: a login form with empty OAuth fields counts as a form without OAuth parameters")
  func formWithEmptyFields() async throws {
    try await GatewayFixture.run { gateway in
      let begun = try await gateway.begin()
      let before = gateway.upstream.recorder.count
      _ = try await gateway.post("/authorize", ["password": "x", "state": ""], Headers.cookies([begun.cookie]))
      #expect(gateway.upstream.recorder.count == before + 1)
    }
  }

  @Test("I-reentry: other fields of a form pass unchanged")
  func otherFields() async throws {
    try await GatewayFixture.run { gateway in
      let begun = try await gateway.begin()
      let session = try await gateway.legacySession()
      let body = begun.query.encoded + "&confirm=yes&csrf=%41b%2fc+d&empty=&list=1&list=2"
      let response = try await gateway.send(
        Request(
          method: "POST", target: "/authorize?step=%32",
          headers: [
            "Cookie": "theme=dark; \(begun.cookie); \(session)", "Content-Type": "application/x-www-form-urlencoded",
            "Referer": "https://gw.example\(begun.target)", "Origin": "https://gw.example",
          ], body: Array(body.utf8)))
      #expect(response.status == 303)
      let sent = try #require(gateway.upstream.recorder.requests.last)
      #expect(String(decoding: sent.body, as: UTF8.self) == body)
      #expect(sent.target == "/authorize?step=%32")
      #expect(sent.headers["Cookie"] == "theme=dark; \(session)")
      #expect(sent.headers["Origin"] == "https://gw.example")
    }
  }

  @Test("I-reentry: a form without OAuth parameters needs the cookie of a live transaction")
  func plainForm() async throws {
    try await GatewayFixture.run { gateway in
      let begun = try await gateway.begin()
      try await gateway.expectRefused(post: "/authorize", ["password": "x"], status: 400)
      try await gateway.expectRefused(
        post: "/authorize", ["password": "x"], ["Cookie": "__Host-proofgate=AQAAAAAA"], status: 400)
      let before = gateway.upstream.recorder.count
      _ = try await gateway.post("/authorize", ["password": "x"], Headers.cookies([begun.cookie]))
      #expect(gateway.upstream.recorder.count == before + 1)
    }
  }

  @Test("I-reentry: a form passes with a query that the upstream added to its own URL")
  func formWithQuery() async throws {
    try await GatewayFixture.run { gateway in
      let begun = try await gateway.begin()
      let before = gateway.upstream.recorder.count
      _ = try await gateway.post("/authorize?execution=e1s1", ["password": "x"], Headers.cookies([begun.cookie]))
      #expect(gateway.upstream.recorder.count == before + 1)
      #expect(gateway.upstream.recorder.requests.last?.target == "/authorize?execution=e1s1")
    }
  }

  @Test("I-reentry: an altered state is refused")
  func alteredState() async throws {
    try await GatewayFixture.run { gateway in
      let begun = try await gateway.begin()
      let middle = begun.state.index(begun.state.startIndex, offsetBy: begun.state.count / 2)
      for altered in [
        begun.state + "A", String(begun.state.dropLast()), begun.state + "=",
        begun.state.replacingCharacter(at: middle), "",
      ] {
        let target = begun.target { $0.set("state", altered) }
        let response = try await gateway.expectRefused(get: target, Headers.cookies([begun.cookie]), status: 400)
        #expect(response.location == nil)
      }
    }
  }

  @Test("I-reentry: an immediate page of the upstream becomes a redirect to a URL that re-enters the transaction")
  func pageAtOnce() async throws {
    try await GatewayFixture.run { gateway in
      let session = try await gateway.legacySession()
      let begun = try await gateway.begin(cookies: [session])
      #expect(begun.response.status == 302)
      #expect(begun.response.location == begun.target)
      let page = try await gateway.get(begun.target, Headers.cookies([begun.cookie, session]))
      #expect(page.status == 200)
      #expect(page.text.contains("Upstream legacy-p1"))
    }
  }
}

extension String {
  /// The text with the character at `index` replaced by another one of the base64url alphabet.
  func replacingCharacter(at index: Index) -> String {
    self[..<index] + (self[index] == "A" ? "B" : "A") + self[self.index(after: index)...]
  }
}
