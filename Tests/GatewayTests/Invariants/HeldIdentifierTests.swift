import ByteText
import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Testing

@Suite("I-credentials")
struct HeldIdentifierTests {
  /// Requests that contain `legacy-w1`, whose secret the gateway holds.
  private static let requests: [(String, @Sendable (inout Request) -> Void)] = [
    ("body", { $0.body = body("client_id=legacy-w1&client_secret=guess") }),
    ("case", { $0.body = body("client_id=Legacy-W1&client_secret=guess") }),
    ("spaces", { $0.body = body("client_id=+legacy-w1%20&client_secret=guess") }),
    ("escaped twice", { $0.body = body("client_id=legacy%252Dw1&client_secret=guess") }),
    ("wide letters", { $0.body = body("client_id=%EF%BD%8Cegacy-w1&client_secret=guess") }),
    ("another name", { $0.body = body("clientId=legacy-w1&client_secret=guess") }),
    ("brackets", { $0.body = body("client_id[]=legacy-w1&client_secret=guess") }),
    ("twice", { $0.body = body("client_id=x&client_id=legacy-w1&client_secret=guess") }),
    ("behind a semicolon", { $0.body = body("a=b;client_id=legacy-w1&client_secret=guess") }),
    ("behind a semicolon, not decodable", { $0.body = body("a=b;client%u005Fid=legacy-w1&client_secret=guess") }),
    ("behind a semicolon, not UTF-8", { $0.body = body("a=b;client_id%FF=legacy-w1&client_secret=guess") }),
    ("another name behind a semicolon", { $0.body = body("a=b;clientId=legacy-w1&client_secret=guess") }),
    ("Basic with a domain", { $0.headers.append("Authorization", basic("DOMAIN\\legacy-w1:guess")) }),
    ("malformed", { $0.body = body("client_id=legacy-w1%00&client_secret=guess") }),
    ("Basic", { $0.headers.append("Authorization", basic("legacy-w1:guess")) }),
    ("Basic in another case", { $0.headers.append("Authorization", basic("LEGACY-w1:guess")) }),
    ("Basic, encoded", { $0.headers.append("Authorization", basic("legacy%2Dw1:guess")) }),
    (
      "Basic credentials next to another id",
      {
        $0.headers.append("Authorization", basic("legacy-w1:guess"))
        $0.body = body("client_id=w3")
      }
    ),
    (
      "the second of two fields",
      {
        $0.headers.append("Authorization", basic("w3:w3secret"))
        $0.headers.append("Authorization", basic("legacy-w1:guess"))
      }
    ),
    (
      "Basic without padding",
      {
        let field = basic("legacy-w1:guess").prefix { $0 != "=" }
        $0.headers.append("Authorization", String(field))
        $0.body = body("client_id=w3&client_secret=w3secret")
      }
    ),
    ("query", { $0.target += "?client_id=legacy-w1&client_secret=guess" }),
    (
      "GET",
      {
        $0.method = "GET"
        $0.body = []
        $0.target += "?client_id=legacy-w1&client_secret=guess&token=x"
      }
    ),
    (
      "JSON",
      {
        $0.headers.set("Content-Type", "application/json")
        $0.body = Array(#"{"client_id":"legacy-w1","client_secret":"guess","token":"x"}"#.utf8)
      }
    ),
    (
      "multipart",
      {
        $0.headers.set("Content-Type", "multipart/form-data; boundary=x")
        $0.body = Array("--x\r\nContent-Disposition: form-data; name=client_id\r\n\r\nlegacy-w1\r\n--x--".utf8)
      }
    ),
    ("compressed", { $0.headers.append("Content-Encoding", "gzip") }),
    ("assertion", { $0.body = body("client_assertion=\(jwt(#"{"sub":"legacy-w1","iss":"legacy-w1"}"#))") }),
    ("assertion with escapes", { $0.body = body("client_assertion=\(jwt(#"{"sub":"l\u0065gacy-w1"}"#))") }),
    (
      "assertion behind many strings",
      { $0.body = body("client_assertion=\(jwt(String(repeating: #""a","#, count: 400) + #""legacy-w1""#))") }
    ),
    (
      "assertion with a long payload",
      { $0.body = body("client_assertion=\(jwt(String(repeating: " ", count: 9_000) + #"{"sub":"legacy-w1"}"#))") }
    ),
    (
      "second assertion",
      { $0.body = body("client_assertion=a.e30.b&client_assertion=\(jwt(#"{"sub":"legacy-w1"}"#))") }
    ),
  ]

  /// `Authorization` fields in which the gateway reads no user, and some server may read `legacy-w1`.
  private static let unreadable: [[String]] = {
    let pair = Base64.encode(Array("legacy-w1:guess".utf8))
    let other = Base64.encode(Array("other:guess".utf8))
    let (front, back) = (pair.prefix(4), pair.dropFirst(4))
    let wide = Base64.encode("legacy-w1:guess".utf16.flatMap { [UInt8(truncatingIfNeeded: $0), 0] })
    return [
      ["Basic \(front) \(back)"], ["Basic \(front)\t\(back)"], [pair], ["Basic\u{a0}\(pair)"], ["Basic=\(pair)"],
      ["Basic: \(pair)"], ["x Basic \(pair)"], ["\"Basic\" \(pair)"], ["Basic \"\(pair)\""],
      ["Basic \(other), Basic \(pair)"], ["Basic \(other),Basic \(pair)"], ["Basic \(pair) x"], ["Basic !\(pair)"],
      ["Basic \(other)", "Basic \(pair)"], ["Bearer x", "Basic \(pair)"], ["Bearer x, Basic \(pair)"], ["Bearer"],
      ["Basic \(wide)"], ["Digest \(pair)"], [""],
    ]
  }()

  @Test(
    "I-credentials: at introspection, `Authorization` is one readable field with HTTP Basic or a bearer token",
    arguments: [true, false])
  func unreadableFields(holdsSecret: Bool) async throws {
    let policy = try FixturePolicy.with { policy in
      if !holdsSecret { for id in policy.clients.keys where id.rawValue != "w3" { policy.clients[id] = nil } }
    }
    try await GatewayFixture.run(policy) { gateway in
      for fields in Self.unreadable {
        let headers = Headers(fields.map { Headers.Field(name: "Authorization", value: $0) })
        try await gateway.expectRefused(post: "/introspect", ["token": "x"], headers, status: 401)
        // Some of the fields name the held id also for the gateway.
        let rules = ["client-authentication-malformed"] + (holdsSecret ? ["client-is-upstream"] : [])
        let line = try #require(gateway.logLines.last)
        #expect(rules.contains { line.contains(#""rule":"\#($0)""#) }, "\(fields) \(line)")
      }
      for field in [Self.basic("DOMAIN\\other:guess"), Self.basic("other:a b%"), "Bearer abc", "bearer  abc"] {
        let before = gateway.upstream.recorder.count
        _ = try await gateway.post("/introspect", ["token": "x"], ["Authorization": field])
        #expect(gateway.upstream.recorder.count == before + 1, "\(field)")
        #expect(gateway.upstream.recorder.requests.last?.headers.all("Authorization") == [field])
      }
    }
  }

  @Test("I-observe: if no client is enforced, such a field passes unchanged and is a finding")
  func observedFields() async throws {
    try await GatewayFixture.run(try ObserveTests.observing()) { gateway in
      for fields in Self.unreadable where fields != [""] {
        let headers = Headers(fields.map { Headers.Field(name: "Authorization", value: $0) })
        _ = try await gateway.post("/introspect", ["token": "x"], headers)
        #expect(gateway.upstream.recorder.requests.last?.headers.all("Authorization") == fields)
        #expect(gateway.logLines.last?.contains("would-reject:client-authentication-malformed") == true, "\(fields)")
      }
    }
  }

  private static func body(_ text: String) -> [UInt8] {
    Array((text + "&token=x&grant_type=client_credentials").utf8)
  }

  private static func basic(_ pair: String) -> String { "Basic " + Base64.encode(Array(pair.utf8)) }

  private static func jwt(_ payload: String) -> String {
    let text = Base64.encode(Array(payload.utf8)).replacing("+", with: "-").replacing("/", with: "_")
    return
      "e30.\(text.prefix { $0 != "=" }).c2ln&client_assertion_type=urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
  }

  static let endpoints = ["/token", "/revoke", "/introspect", "/par"]
  static let modes = [UnknownClients.reject, .observe]

  @Test(
    "I-credentials: a held upstream id never reaches the upstream, in any place or spelling",
    arguments: endpoints, modes
  )
  func refused(path: String, unknown: UnknownClients) async throws {
    let policy = try FixturePolicy.with { policy in
      policy.unknownClients = unknown
      policy.upstream.endpoints.pushedAuthorization = ["/par"]
      policy.edit("w1") { $0.pushedAuthorization = .optional }
    }
    try await GatewayFixture.run(policy) { gateway in
      for (name, change) in Self.requests {
        var request = Request(
          method: "POST", target: path, headers: ["Content-Type": "application/x-www-form-urlencoded"],
          body: Self.body("x=y"))
        change(&request)
        let before = gateway.upstream.recorder.count
        let response = try await gateway.send(request)
        #expect(gateway.upstream.recorder.count == before, "\(name): the upstream was contacted")
        #expect((400..<500).contains(response.status), "\(name): \(response.status)")
      }
    }
  }

  @Test("I-credentials: a held upstream id that the policy lists as a client is accepted in its exact spelling only")
  func listed() async throws {
    let policy = try FixturePolicy.with { policy in
      let id = ClientID("legacy-w1")
      policy.clients[id] = ClientSettings(
        id: id, kind: .confidential, application: .web, redirectURIs: [], consent: .upstream,
        upstream: UpstreamClient(clientID: id, authentication: .none, redirectURI: .requested))
    }
    try await GatewayFixture.run(policy) { gateway in
      gateway.upstream.script { _ in Response(status: 200) }
      let listed: Form = ["client_id": "legacy-w1", "client_secret": "its-own", "token": "x"]
      for path in ["/revoke", "/introspect"] {
        #expect(try await gateway.post(path, listed).status == 200)
        let sent = try #require(gateway.upstream.recorder.requests(to: path).last)
        #expect(Form(decoding: String(decoding: sent.body, as: UTF8.self)) == listed)
        var other = listed
        other.set("client_id", "Legacy-w1")
        try await gateway.expectRefused(post: path, other, status: 401)
      }
    }
  }

  @Test("I-credentials: introspection by other callers is not changed")
  func otherCallers() async throws {
    try await GatewayFixture.run { gateway in
      gateway.upstream.script { _ in
        Response(status: 200, headers: ["Content-Type": "application/json"], body: Array(#"{"active":true}"#.utf8))
      }
      let form: Form = ["token": "x", "token_type_hint": "access_token"]
      let response = try await gateway.post(
        "/introspect", form, ["Authorization": Self.basic("resource-server:secret")])
      #expect(response.text == #"{"active":true}"#)
      let bearer = try await gateway.post("/introspect", form, ["Authorization": "Bearer abc"])
      #expect(bearer.status == 200)
      #expect(gateway.upstream.recorder.requests(to: "/introspect").map { $0.headers["Authorization"] }.count == 2)
    }
  }

  @Test("I-credentials: an unknown client, a query and a wrong secret do not reach the upstream's revocation endpoint")
  func revocation() async throws {
    let policy = try FixturePolicy.with { policy in
      policy.edit("w3") { $0.upstream.clientSecret = Secret("held-for-w3") }
    }
    try await GatewayFixture.run(policy) { gateway in
      try await gateway.expectRefused(post: "/revoke", ["token": "x", "client_id": "nobody"], status: 400)
      try await gateway.expectRefused(get: "/revoke?token=x&client_id=n1", status: 405)
      try await gateway.expectRefused(
        post: "/revoke", ["token": "x", "client_id": "w3", "client_secret": "guess"], status: 401)
      let right: Form = ["token": "x", "client_id": "w3", "client_secret": "held-for-w3"]
      #expect(try await gateway.post("/revoke", right).status == 200)
    }
  }

  @Test("I-credentials: a secret that the gateway verifies does not go upstream under another spelling of its client")
  func ownSecretUnderAnotherSpelling() async throws {
    let policy = try FixturePolicy.with { $0.unknownClients = .observe }
    try await GatewayFixture.run(policy) { gateway in
      for id in ["W1", " w1", "w1"] {
        for path in ["/token", "/revoke", "/introspect"] {
          let form: Form = [
            "grant_type": "authorization_code", "code": "raw", "token": "raw", "client_id": id,
            "client_secret": "w1secret",
          ]
          _ = try await gateway.post(path, form)
          let basic = ["Authorization": BasicCredentials(user: id, password: Secret("w1secret")).header.reveal()]
          _ = try await gateway.post(path, ["token": "raw"], Headers(basic))
        }
      }
      for request in gateway.upstream.recorder.requests {
        #expect(!request.headers.contains("Authorization"))
        #expect(!String(decoding: request.body, as: UTF8.self).contains("w1secret"))
      }
      #expect(gateway.upstream.recorder.count >= 6)
    }
  }
}

extension Headers {
  fileprivate init(_ fields: [String: String]) {
    self.init()
    for (name, value) in fields { append(name, value) }
  }
}
