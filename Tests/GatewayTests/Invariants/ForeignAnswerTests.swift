import ByteText
import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Stores
import Testing
import Time

@testable import Gateway

/// Codes that a server sends to other origins while a sign-in is in progress, and codes in `Link` fields.
@Suite("I-path: codes for other origins")
struct ForeignAnswerTests {
  private static let login = "/login/submit"

  private func answering(_ gateway: GatewayFixture, _ headers: Headers, status: Int = 302) {
    gateway.upstream.script { _ in Response(status: status, headers: headers) }
  }

  @Test(
    "I-path: in a transaction a code for another origin is refused, whatever its state and the spelling of its name",
    arguments: [
      "https://evil.example/?code=RAW9VAL", "https://evil.example/cb?state=s1&code=RAW9VAL",
      "//evil.example/#code=RAW9VAL",
      "https://evil.example/?x=1;code=RAW9VAL", "https://evil.example/?%63ode=RAW9VAL",
      "https://evil.example/?Code=RAW9VAL",
      "com.evil:/cb?code=RAW9VAL", "https://gw.example.evil.example/?code=RAW9VAL",
      "https://gw.example:444/?code=RAW9VAL",
      "https://sso.example/?next=https%3A%2F%2Fevil.example%2F%3Fcode%3DRAW9VAL",
    ])
  func elsewhere(location: String) async throws {
    try await GatewayFixture.run { gateway in
      let begun = try await gateway.begin()
      let cookies = Headers.cookies([begun.cookie])
      answering(gateway, ["Location": location])
      let responses = [
        try await gateway.get(begun.target, cookies), try await gateway.get(gateway.authorizationTarget("p1")),
        try await gateway.post("/authorize", ["confirm": "yes"], cookies),
        try await gateway.post(Self.login, ["password": "p"], cookies),
      ]
      for response in responses {
        #expect(response.status == 502)
        #expect(response.location == nil)
        #expect(response.text.contains("answer-elsewhere") && !response.text.contains("RAW9VAL"))
      }
      let refused = gateway.logLines.filter { $0.contains(#""rule":"answer-elsewhere""#) }
      #expect(refused.count == responses.count)
      #expect(refused.allSatisfy { !$0.contains("RAW9VAL") })
    }
  }

  @Test(
    "I-path: a code for another origin in Refresh, Content-Location or Link is refused too",
    arguments: ["Refresh", "Content-Location", "Link"])
  func otherFields(name: String) async throws {
    try await GatewayFixture.run { gateway in
      let begun = try await gateway.begin()
      let cookies = Headers.cookies([begun.cookie])
      let address = "https://evil.example/?code=RAW9VAL"
      let value =
        switch name {
        case "Refresh": "0;url=\(address)"
        case "Link": "</style.css>; rel=preload, <\(address)>; rel=prefetch"
        default: address
        }
      answering(gateway, Headers([.init(name: name, value: value)]), status: 200)
      for response in [try await gateway.get(begun.target, cookies), try await gateway.get(Self.login, cookies)] {
        #expect(response.status == 502)
        #expect(response.headers[name] == nil)
        #expect(response.text.contains("answer-elsewhere"))
      }
    }
  }

  @Test(
    "I-path: a sign-in may continue at the gateway's origin, or at another origin without a code",
    arguments: [
      "/mfa?code=1", "https://gw.example/login/callback?code=1", "https://idp.example/authorize?response_type=code&x=1",
      "https://idp.example/?promo_code=1", "https://idp.example/?code_challenge=x",
    ])
  func onward(location: String) async throws {
    try await GatewayFixture.run { gateway in
      let begun = try await gateway.begin()
      let cookies = Headers.cookies([begun.cookie])
      answering(gateway, ["Location": location])
      for response in [try await gateway.get(begun.target, cookies), try await gateway.get(Self.login, cookies)] {
        #expect(response.status == 302)
        #expect(response.location == location)
      }
    }
  }

  @Test("I-path: a code for the upstream's own origin is allowed, a code for any other host or port is not")
  func upstreamOrigin() throws {
    let policy = try FixturePolicy.with { policy in
      policy.upstream.origin = Origin(scheme: .http, host: "legacy.internal", port: 9000)
    }
    let locations = LocationGuard(policy)
    #expect(!locations.sendsCodeToOtherOrigin("http://legacy.internal:9000/login?code=1"))
    for other in ["http://legacy.internal/?code=1", "https://legacy.internal:9001/?code=1", "legacy.internal:/?code=1"]
    {
      #expect(locations.sendsCodeToOtherOrigin(other), "\(other)")
    }
  }

  @Test("I-path: without a transaction in progress a code for another origin passes")
  func noTransaction() async throws {
    try await GatewayFixture.run { gateway in
      let location = "https://elsewhere.example/cb?code=RAW9VAL"
      let begun = try await gateway.begin()
      answering(gateway, ["Location": location])
      #expect(try await gateway.get(Self.login).location == location)
      gateway.clock.advance(by: 3_600)
      let late = try await gateway.get(Self.login, Headers.cookies([begun.cookie]))
      #expect(late.location == location)
    }
  }

  private static let watched = "https://watched.example/cb"

  /// Enforces the clients of the fixture, and observes the client `watched` and unknown ones.
  private static func mixed() throws -> Policy {
    let listed = try RedirectURI(parsing: watched)
    return try FixturePolicy.with { policy in
      policy.unknownClients = .observe
      let id = ClientID("watched")
      policy.clients[id] = ClientSettings(
        id: id, kind: .public, application: .web, redirectURIs: [listed], mode: .observe, consent: .upstream,
        upstream: UpstreamClient(clientID: id, authentication: .none, redirectURI: .requested))
    }
  }

  @Test("I-observe: an observed client gets its code in a browser with a sign-in of an enforced client in progress")
  func observedClient() async throws {
    try await GatewayFixture.run(try Self.mixed()) { gateway in
      let begun = try await gateway.begin()
      let cookies = Headers.cookies([begun.cookie])
      answering(gateway, [:], status: 200)
      _ = try await gateway.get(gateway.authorizationTarget("stranger", "https://stranger.example/cb"), cookies)
      for location in ["\(Self.watched)?code=RAW9VAL&state=s9", "https://stranger.example/cb?code=RAW9VAL&state=s1"] {
        answering(gateway, ["Location": location])
        for response in [
          try await gateway.get(Self.login, cookies), try await gateway.post("/authorize", ["confirm": "yes"], cookies),
        ] {
          #expect(response.location == location, "\(response.text)")
        }
      }
      answering(gateway, ["Location": "https://evil.example/cb?code=RAW9VAL&state=s1"])
      #expect(try await gateway.get(Self.login, cookies).status == 502)
    }
  }

  @Test(
    "I-observe: a request of another browser, or one that the server refuses, lets no code leave for its redirect URI")
  func strangersRequest() async throws {
    try await GatewayFixture.run(try Self.mixed()) { gateway in
      let begun = try await gateway.begin()
      let own = Headers.cookies([begun.cookie])
      let other = Headers.cookies([try await gateway.begin().cookie])
      let cases: [(Headers, Int, Headers, Bool)] = [
        ([:], 200, [:], false), (other, 200, [:], false), (own, 400, [:], false), (own, 500, [:], false),
        (own, 302, ["Location": "/error?error=invalid_request"], false),
        (own, 302, ["Location": "https://evil.example/cb?error=invalid_request&state=s1"], false),
        (own, 303, ["Location": "/login"], true),
      ]
      for (number, (cookies, status, headers, isAccepted)) in cases.enumerated() {
        answering(gateway, headers, status: status)
        _ = try await gateway.get(
          gateway.authorizationTarget("oldapp", "https://evil.example/cb") { $0.set("state", "t\(number)") }, cookies)
        let location = "https://evil.example/cb?code=RAW9VAL&state=t\(number)"
        answering(gateway, ["Location": location])
        for response in [
          try await gateway.post(Self.login, ["password": "p"], own),
          try await gateway.post("/authorize", ["confirm": "yes"], own),
        ] {
          #expect((response.location == location) == isAccepted, "\(number)")
          if !isAccepted { #expect(response.status == 502 && !response.text.contains("RAW9VAL")) }
        }
      }
    }
  }

  // MARK: Without the cookie

  @Test(
    "I-completion: without the cookie a code for another origin passes, and no sign-in can use it later",
    arguments: ["Location", "Refresh"])
  func claimedWithoutCookie(field: String) async throws {
    for policy in [try FixturePolicy.with(), try Self.mixed()] {
      try await GatewayFixture.run(policy) { gateway in
        let location = "https://elsewhere.example/cb?code=RAW9VAL"
        let sent: Headers =
          field == "Refresh" ? ["Refresh": "0;url=" + location, "Vary": "a"] : ["Location": location, "Vary": "a"]
        answering(gateway, sent)
        // A link with a parameter `code` may be followed by many browsers.
        for _ in 0..<2 {
          let passed = try await gateway.post(Self.login, ["password": "p"])
          #expect(passed.headers[field] == sent[field])
          #expect(passed.headers["Vary"] == "a" && !passed.headers.contains("X-Frame-Options"))
          #expect(gateway.logLines.last?.contains(#""endpoint":"path""#) == true)
          #expect(gateway.logLines.last?.contains("RAW9VAL") == false)
        }
        gateway.upstream.script(nil)
        let begun = try await gateway.begin()
        answering(gateway, ["Location": "https://gw.example/.proofgate/callback?code=RAW9VAL&state=" + begun.state])
        let refused = try await gateway.get(begun.target, Headers.cookies([begun.cookie]))
        #expect(refused.location == nil && refused.text.contains("answer-replayed"))
      }
    }
  }

  @Test("I-completion: without the cookie a code or state of a sign-in does not leave for another origin")
  func ownedWithoutCookie() async throws {
    try await GatewayFixture.run { gateway in
      let begun = try await gateway.begin()
      answering(gateway, ["Location": "https://gw.example/.proofgate/callback?code=RAW9VAL&state=" + begun.state])
      #expect(try await gateway.get(begun.target, Headers.cookies([begun.cookie])).location?.contains("code=") == true)
      for location in [
        "https://evil.example/cb?code=RAW9VAL", "https://evil.example/cb?code=OTHER9VAL&state=" + begun.state,
      ] {
        answering(gateway, ["Location": location])
        let response = try await gateway.post(Self.login, ["password": "p"], ["Sec-Fetch-Site": "cross-site"])
        #expect(response.location == nil && response.status >= 400, "\(location)")
      }
    }
  }

  @Test("I-completion: without the cookie a code for another origin passes also if the store does not answer")
  func unclaimedWithoutCookie() async throws {
    let store = BrokenStore(.unavailable("gone"))
    try await GatewayFixture.run(store: store) { gateway in
      store.isBroken = true
      let location = "https://elsewhere.example/cb?code=RAW9VAL&state=AQEBAQEBAQ"
      answering(gateway, ["Location": location])
      let response = try await gateway.get(Self.login)
      #expect(response.location == location)
      #expect(gateway.logLines.last?.contains("code-not-claimed") == true)
    }
  }

  @Test("I-path: a page with a code for another origin in Link or Content-Location keeps its body without the cookie")
  func pageWithoutCookie() async throws {
    try await GatewayFixture.run { gateway in
      for headers: Headers in [
        ["Link": "<https://cdn.example/a?code=1>; rel=preload"],
        ["Content-Location": "https://api.example/items?code=1"],
      ] {
        gateway.upstream.script { _ in Response(status: 200, headers: headers, body: Array("page".utf8)) }
        let response = try await gateway.get("/page")
        #expect(response.text == "page")
      }
    }
  }

  // MARK: Link

  @Test(
    "I-path: a Link with a code or token for a guarded redirect URI is refused, on any path",
    arguments: [
      "<https://app.example.com/cb?code=RAW9VAL>; rel=prefetch", "</.proofgate/callback?code=RAW9VAL>; rel=\"next\"",
      "</a>; rel=x,<com.example.app:/cb#access_token=RAW9VAL>;rel=preload", "<https://app.example.com/cb?code=RAW9VAL",
    ])
  func links(value: String) async throws {
    try await GatewayFixture.run { gateway in
      let begun = try await gateway.begin()
      answering(gateway, ["Link": "</style.css>; rel=preload", "link": value], status: 200)
      for cookies in [Headers(), Headers.cookies([begun.cookie])] {
        let response = try await gateway.get(Self.login, cookies)
        #expect(response.status == 502)
        #expect(response.text.contains("response-unlisted") && !response.text.contains("RAW9VAL"))
        #expect(response.headers["Link"] == nil)
      }
      let reentered = try await gateway.get(begun.target, Headers.cookies([begun.cookie]))
      #expect(reentered.status == 502 && reentered.headers["Link"] == nil)
    }
  }

  @Test("I-path: a response with more than 64 links that may carry a code does not reach the browser")
  func manyLinks() async throws {
    try await GatewayFixture.run { gateway in
      func links(_ count: Int) -> Headers {
        Headers((0..<count).map { Headers.Field(name: "Link", value: "</a\($0)?promo_code=b>, </b\($0)>; rel=next") })
      }
      for (count, status) in [(64, 200), (65, 502)] {
        answering(gateway, links(count), status: 200)
        let response = try await gateway.get("/page")
        #expect(response.status == status, "\(count)")
      }
      // One field with all of them.
      let link = (0..<65).map { "</a\($0)?Code=b>" }.joined(separator: ", ")
      answering(gateway, ["Link": link], status: 200)
      let response = try await gateway.get("/page")
      #expect(response.status == 502)
    }
  }

  @Test("I-path: Link fields without a code pass unchanged")
  func harmlessLinks() async throws {
    try await GatewayFixture.run { gateway in
      answering(
        gateway, ["Link": "</style.css>; rel=preload", "link": "<https://app.example.com/cb?x=code>; rel=a"],
        status: 200)
      let response = try await gateway.get("/page")
      #expect(response.status == 200)
      #expect(
        response.headers.all("Link") == ["</style.css>; rel=preload", "<https://app.example.com/cb?x=code>; rel=a"])
    }
  }

  @Test("I-observe: an observed response is refused if its Link carries a code to an enforced client's redirect URI")
  func observedLink() async throws {
    let policy = try FixturePolicy.with { $0.unknownClients = .observe }
    try await GatewayFixture.run(policy) { gateway in
      answering(gateway, ["Link": "<https://app.example.com/cb?code=RAW9VAL>; rel=prefetch"], status: 200)
      let response = try await gateway.get(gateway.authorizationTarget("stranger", "https://stranger.example/cb"))
      #expect(response.status == 502)
      #expect(response.text.contains("answer-to-enforced"))
    }
  }

  @Test("The targets of a Link field are the texts between its angle brackets")
  func targets() {
    func targets(_ field: String) -> [String] {
      var found: [String] = []
      LinkField.forEachTarget(of: field.utf8.span) {
        found.append(String(decoding: [UInt8](copying: $0), as: UTF8.self))
        return true
      }
      return found
    }
    #expect(targets("</a>; title=\"x\", <b?c=1,2>;rel=y") == ["/a", "b?c=1,2"])
    #expect(targets("no target").isEmpty)
    #expect(targets("<open") == ["open"])
  }
}
