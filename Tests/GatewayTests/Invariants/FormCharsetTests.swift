import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Testing

/// Charsets of forms that some servers see and others do not. A server that decodes a form by another charset than the
/// gateway finds other parameters in it.
@Suite("I-request: charsets of forms")
struct FormCharsetTests {
  private static let form = "application/x-www-form-urlencoded"
  /// Texts between the media type and a charset. Some server finds the charset behind each of them.
  private static let separators = [
    ";", "; ", ",", ", ", " ", "\t", "; x=1,", "; x=1, ", "; x ", "; x\t", "; x=\"a\" ", "; x=\"", "; x=", ";;x=,",
    "; charset=utf-8,", "; charset=utf-8;", "; charset=utf-8 ", "; charset=\"utf-8\",", "; x_", "; a=b\u{600};",
  ]
  private static let types = separators.flatMap { separator in
    ["charset=utf-7", "CHARSET=utf-16", "charset = ibm037", "charset=us-ascii"].map { form + separator + $0 }
  }

  private static func requests(_ begun: Begun, _ type: String) -> [Request] {
    var reentry = begun.query
    reentry.append("confirm", "yes")
    let bodies: [(String, String, String?)] = [
      ("/authorize", reentry.encoded, begun.cookie), ("/authorize", "username=a&password=b", begun.cookie),
      ("/token", "grant_type=client_credentials&client_id=w3&client_secret=x", nil),
      ("/revoke", "token=x&client_id=w3&client_secret=x", nil), ("/introspect", "token=x", nil),
    ]
    return bodies.map { path, body, cookie in
      var headers = Headers.cookies([cookie].compactMap(\.self))
      headers.append("Content-Type", type)
      return Request(method: "POST", target: path, headers: headers, body: Array(body.utf8))
    }
  }

  @Test("I-request: a form with a parameter other than the charset UTF-8 reaches no OAuth endpoint", arguments: types)
  func refused(type: String) async throws {
    try await GatewayFixture.run { gateway in
      let begun = try await gateway.begin()
      for request in Self.requests(begun, type) {
        let response = try await gateway.expectRefused(request, status: 400)
        let rules = ["body-type", "reentry-body"]
        let line = try #require(gateway.logLines.last)
        #expect(rules.contains { line.contains(#""rule":"\#($0)""#) }, "\(response.text) \(line)")
      }
    }
  }

  @Test("I-request: such a form is refused at introspection even if the gateway holds no secret")
  func introspection() async throws {
    let policy = try FixturePolicy.with { policy in
      for id in policy.clients.keys where id.rawValue != "w3" { policy.clients[id] = nil }
    }
    try await GatewayFixture.run(policy) { gateway in
      for type in Self.types {
        try await gateway.expectRefused(post: "/introspect", ["token": "x"], ["Content-Type": type], status: 400)
      }
      _ = try await gateway.post("/introspect", ["token": "x"])
      #expect(gateway.upstream.recorder.count == 1)
    }
  }

  @Test("I-observe: a form with another charset is not observed while a client is enforced, with or without a body")
  func mixed() async throws {
    try await GatewayFixture.run(try MixedObserveTests.mixed()) { gateway in
      let target = gateway.authorizationTarget("watched")
      for type in Self.types {
        let headers: Headers = ["Content-Type": type]
        try await gateway.expectRefused(post: target, ["confirm": "yes"], headers, status: 400)
        try await gateway.expectRefused(post: "/token", gateway.tokenForm("rawcode0123456", "watched"), headers)
        // Without a body, the request is enforced, and the server gets one that the gateway has written.
        _ = try await gateway.get(target, headers)
        _ = try await gateway.post(target, Form(), headers)
      }
      #expect(gateway.upstream.recorder.requests.allSatisfy { !$0.headers.contains("Content-Type") })
      for headers: Headers in [[:], ["Content-Type": "application/json"], ["Content-Type": Self.form]] {
        let before = gateway.upstream.recorder.count
        _ = try await gateway.get(target, headers)
        #expect(gateway.upstream.recorder.count == before + 1)
      }
    }
  }

  @Test("I-observe: if no client is enforced, such a form passes unchanged and is a finding")
  func observed() async throws {
    try await GatewayFixture.run(try ObserveTests.observing()) { gateway in
      for type in Self.types {
        _ = try await gateway.post("/token", gateway.tokenForm("rawcode0123456", "p1"), ["Content-Type": type])
        #expect(gateway.upstream.recorder.requests(to: "/token").last?.headers.all("Content-Type") == [type])
        #expect(gateway.logLines.last?.contains("would-reject:body-type") == true)
      }
    }
  }

  @Test(
    "I-request: a form is forwarded with the type by which the gateway has read it",
    arguments: [
      ("Application/X-WWW-Form-Urlencoded", nil), (form + ";", nil), (form + " ; ;", nil),
      (form + ";charset=utf-8", "UTF-8"), (form + "\t; charset=\"Utf-8\" ;", "UTF-8"),
    ] as [(String, String?)])
  func forwarded(type: String, charset: String?) async throws {
    try await GatewayFixture.run { gateway in
      let begun = try await gateway.begin()
      for request in Self.requests(begun, type) where request.target != "/token" {
        let before = gateway.upstream.recorder.count
        _ = try await gateway.send(request)
        #expect(gateway.upstream.recorder.count == before + 1)
        let received = try #require(gateway.upstream.recorder.requests.last)
        #expect(received.headers.all("Content-Type") == [Self.form + (charset.map { "; charset=\($0)" } ?? "")])
        #expect(received.body == request.body)
      }
    }
  }

  @Test("I-request: no request without a body has a type, and a re-entry with a charset but no body is refused")
  func withoutBody() async throws {
    try await GatewayFixture.run { gateway in
      let type: Headers = ["Content-Type": Self.form + "; x=1, charset=utf-16"]
      _ = try await gateway.get(gateway.authorizationTarget("p1"), type)
      let begun = try await gateway.begin()
      _ = try await gateway.get(
        begun.target, ["Cookie": begun.cookie, "Content-Type": Self.form, "Content-Language": "de"])
      #expect(gateway.upstream.recorder.count == 3)
      for request in gateway.upstream.recorder.requests {
        #expect(!request.headers.contains("Content-Type") && !request.headers.contains("Content-Language"))
      }
      var headers = type
      headers.append("Cookie", begun.cookie)
      try await gateway.expectRefused(get: begun.target, headers, status: 400)
    }
  }

  @Test(
    "I-request: a field that names the charset of parameters reaches the server from no peer, in no mode",
    arguments: ["X-Up-Devcap-Post-Charset", "x-up-devcap-post-charset", "X_Up_Devcap_Post_Charset"])
  func field(name: String) async throws {
    for policy in [try FixturePolicy.with(), try MixedObserveTests.mixed(), try ObserveTests.observing()] {
      try await GatewayFixture.run(policy) { gateway in
        let headers = Headers([.init(name: "User-Agent", value: "UP.Browser"), .init(name: name, value: "utf-7")])
        _ = try await gateway.get(gateway.authorizationTarget("p1"), headers)
        _ = try await gateway.get("/page", headers)
        _ = try await gateway.post("/login", ["username": "a"], headers)
        _ = try await gateway.post("/introspect", ["token": "x"], headers)
        #expect(gateway.upstream.recorder.count == 4)
        for request in gateway.upstream.recorder.requests {
          #expect(!request.headers.fields.contains { $0.value == "utf-7" })
          #expect(request.headers["User-Agent"] == "UP.Browser")
        }
      }
    }
  }
}
