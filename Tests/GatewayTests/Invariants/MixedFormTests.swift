import ByteText
import GatewayTestSupport
import HTTP
import LegacyServer
import Policy
import Testing

/// Login and consent forms that post to the authorization URL, in policies that enforce some clients and observe
/// others. `watched` and unknown clients are observed, all others are enforced.
@Suite("I-observe: forms of the server, with enforced clients")
struct MixedFormTests {
  private static let redirectURI = "com.example.watched:/cb"

  private static func query(_ client: String = "watched", _ adjust: (inout Form) -> Void = { _ in }) -> Form {
    var form: Form = [
      "response_type": "code", "client_id": client, "redirect_uri": redirectURI, "scope": "read", "state": "s1",
    ]
    adjust(&form)
    return form
  }

  /// Makes the upstream show a login page, then a consent page, and then redirect with a code. It reads a parameter in
  /// the body if it is there, and otherwise in the query.
  private static func showingForms(_ gateway: GatewayFixture) {
    gateway.upstream.script { request in
      let query = Form(decoding: request.query ?? "")
      let body = Form(decoding: String(decoding: request.body, as: UTF8.self))
      if request.path == "/token" {
        let members = #"{"access_token":"a","token_type":"Bearer"}"#
        return Response(status: 200, headers: ["Content-Type": "application/json"], body: Array(members.utf8))
      }
      guard request.path == "/authorize" else { return nil }
      guard body["confirm"] != nil else {
        return Response(status: 200, headers: ["Content-Type": "text/html"], body: Array("<form method=post>".utf8))
      }
      let location = (body["redirect_uri"] ?? query["redirect_uri"] ?? "") + "?code=rawcode0123456"
      return Response(
        status: 302, headers: ["Location": location + "&state=" + (body["state"] ?? query["state"] ?? "")])
    }
  }

  private static func findings(_ gateway: GatewayFixture) throws -> String {
    let line = try #require(gateway.logLines.last)
    return String(line.split(separator: "\"findings\":").dropFirst().first?.prefix { $0 != "]" } ?? "")
  }

  @Test(
    "I-observe: an observed client signs in by forms of the server, and an enforced one in the same browser",
    arguments: ["query", "both", "body", "stranger"])
  func signsIn(place: String) async throws {
    try await GatewayFixture.run(try MixedObserveTests.mixed()) { gateway in
      let begun = try await gateway.begin()
      let session = try await gateway.legacySession()
      Self.showingForms(gateway)
      let client = place == "stranger" ? "stranger" : "watched"
      let uri = place == "stranger" ? "https://stranger.example/cb" : Self.redirectURI
      let parameters = Self.query(client) { $0.set("redirect_uri", uri) }
      let target = place == "body" ? "/authorize" : parameters.added(to: "/authorize")
      let headers = Headers.cookies([begun.cookie, session])

      #expect(try await gateway.get(parameters.added(to: "/authorize"), headers).status == 200)
      for last in ["username", "confirm"] {
        var form = ["body", "both"].contains(place) ? parameters : Form()
        form.append(last, "yes")
        let response = try await gateway.post(target, form, headers)
        let received = try #require(gateway.upstream.recorder.requests(to: "/authorize").last)
        #expect(received.target == target)
        #expect(String(decoding: received.body, as: UTF8.self) == form.encoded)
        #expect(try Self.findings(gateway).contains("would-reject") == false)
        guard last == "confirm" else { continue }
        #expect(response.location == uri + "?code=rawcode0123456&state=s1")
        #expect(response.ownCookie == nil)
      }
      let token = try await gateway.redeem("rawcode0123456", client, uri) { $0.remove("code_verifier") }
      #expect(token.text.contains("\"access_token\":\"a\""))

      gateway.upstream.script { _ in nil }
      let completed = try await gateway.allow(begun, cookies: [begun.cookie, session])
      #expect(completed.location?.hasPrefix("com.example.p1:/cb?code=") == true)
      #expect(completed.answer["code"] != "rawcode0123456")
    }
  }

  @Test("I-observe: a form whose sign-in is not known passes, and its parameters in two places are a finding")
  func unknownFlow() async throws {
    try await GatewayFixture.run(try MixedObserveTests.mixed()) { gateway in
      Self.showingForms(gateway)
      let target = Self.query().added(to: "/authorize")
      #expect(try await gateway.post(target, ["username": "a", "password": "b"]).status == 200)
      #expect(try Self.findings(gateway).contains("would-reject:parameters-split"))
      let line = try #require(gateway.logLines.last)
      #expect(line.contains("\"client\":\"watched\"") && line.contains("\"mode\":\"observe\""))
    }
  }

  @Test("I-observe: a form in an observed sign-in keeps the record of the challenge, and is no request of the app")
  func findingsOfFlow() async throws {
    try await GatewayFixture.run(try MixedObserveTests.mixed()) { gateway in
      Self.showingForms(gateway)
      let request = Self.query { form in
        form.append("code_challenge", GatewayFixture.challenge)
        form.append("code_challenge_method", "S256")
      }
      _ = try await gateway.get(request.added(to: "/authorize"))
      #expect(try Self.findings(gateway).contains("would-reject") == false)
      // The form of some servers repeats only the parameters that the server knows.
      var form = Self.query()
      form.append("confirm", "yes")
      _ = try await gateway.post(request.added(to: "/authorize"), form)
      #expect(try Self.findings(gateway).contains("would-reject") == false)
      #expect(gateway.logLines.last?.contains("\"step\":\"login\"") == true)
      _ = try await gateway.redeem("rawcode0123456", "watched") {
        $0.set("code_verifier", String(repeating: "a", count: 43))
      }
      #expect(try Self.findings(gateway).contains("would-reject:pkce-verifier-mismatch"))

      form.set("response_type", "token")
      _ = try await gateway.post(request.added(to: "/authorize"), form)
      #expect(try Self.findings(gateway).contains("would-reject:parameters-split"))
    }
  }

  /// Parts in which some server finds another client, next to a part that names `watched`.
  private static let hostileParts: [String] = [
    "client_id=n1", "client_id=N1", "client_id=n1+", "client_id=legacy-native", "client_id=%EF%BD%8E1",
    "client_id=watched&client_id=watched", "client_id=watched&client_id=n1", "client_id[]=n1", "client.id=n1",
    "client+id=n1", "Client_Id=n1", "client_id%00=n1", "client%255Fid=n1", "x=y;client_id=n1",
    "client_id=%FF", "%FF=n1", "client_id=stranger", "redirect_uri[]=com.example.app:/cb", "redirect_uri=%FF",
    "State=x", "request=e30.e30.", "request_uri=urn:x", "registration={}",
  ]

  @Test("I-observe: a form in which a server may find an enforced client is refused", arguments: hostileParts)
  func attacks(part: String) async throws {
    try await GatewayFixture.run(try MixedObserveTests.mixed()) { gateway in
      Self.showingForms(gateway)
      let own = Self.query().encoded
      for (query, body) in [
        (own, part), (own, "username=a&password=b&" + part), (part, own), (part, own + "&confirm=yes"),
      ] {
        let request = Request(
          method: "POST", target: "/authorize?" + query,
          headers: ["Content-Type": "application/x-www-form-urlencoded"], body: Array(body.utf8))
        let response = try await gateway.expectRefused(request, status: 400)
        #expect(response.location == nil)
        #expect(gateway.logLines.last?.contains("\"decision\":\"reject\"") == true)
      }
    }
  }

  @Test("I-observe: a form with a name that only Unicode makes equal to `client_id` is not observed")
  func foldedName() async throws {
    try await GatewayFixture.run(try MixedObserveTests.mixed()) { gateway in
      Self.showingForms(gateway)
      for target in [
        Self.query().added(to: "/authorize"),
        Self.query { $0.append("\u{ff43}lient_id", "n1") }.added(to: "/authorize"),
      ] {
        try await gateway.expectRefused(post: target, ["\u{ff43}lient_id": "n1", "confirm": "yes"])
      }
      try await gateway.expectRefused(get: Self.query { $0.append("\u{ff43}lient_id", "n1") }.added(to: "/authorize"))
    }
  }

  @Test(
    "I-observe: a form of another content type is refused while a client is enforced",
    arguments: ["multipart/form-data; boundary=x", "application/json", "text/plain", "gzip", "utf-16", "two"])
  func contentTypes(kind: String) async throws {
    try await GatewayFixture.run(try MixedObserveTests.mixed()) { gateway in
      Self.showingForms(gateway)
      let body = "--x\r\nContent-Disposition: form-data; name=\"client_id\"\r\n\r\nn1\r\n--x--\r\n"
      var request = Request(
        method: "POST", target: Self.query().added(to: "/authorize"),
        headers: ["Content-Type": "application/x-www-form-urlencoded"], body: Array(body.utf8))
      switch kind {
      case "gzip": request.headers.append("Content-Encoding", "gzip")
      case "utf-16": request.headers.set("Content-Type", "application/x-www-form-urlencoded; charset=utf-16")
      case "two": request.headers.append("Content-Type", "multipart/form-data; boundary=x")
      default: request.headers.set("Content-Type", kind)
      }
      try await gateway.expectRefused(request, status: 400)
    }
  }

  @Test(
    "I-observe: the other part of a form cannot add a redirect URI of an enforced client or the callback",
    arguments: [
      "redirect_uri=com.example.app%3A%2Fcb", "redirect_uri=https%3A%2F%2Fapp.example.com%2Fcb",
      "redirect_uri=https%3A%2F%2Fgw.example%2F.proofgate%2Fcallback", "next=com.example.app%3A%2Fcb",
      "next=%2F.proofgate%2Fcallback",
    ])
  func redirectURIs(part: String) async throws {
    try await GatewayFixture.run(try MixedObserveTests.mixed()) { gateway in
      Self.showingForms(gateway)
      for (query, body) in [(Self.query().encoded, part), (part, Self.query().encoded)] {
        let request = Request(
          method: "POST", target: "/authorize?" + query,
          headers: ["Content-Type": "application/x-www-form-urlencoded"], body: Array((body + "&confirm=yes").utf8))
        let response = try await gateway.expectRefused(request, status: 400)
        #expect(response.text.contains("redirect-uri-enforced"))
      }
    }
  }

  @Test("I-observe: the answer to a form of an observed client does not reach a redirect URI of an enforced client")
  func answers() async throws {
    try await GatewayFixture.run(try MixedObserveTests.mixed()) { gateway in
      for location in ["com.example.app:/cb?code=c", "/.proofgate/callback?code=c"] {
        // The server continues with the request that it keeps in its session.
        gateway.upstream.script { _ in Response(status: 302, headers: ["Location": location]) }
        let response = try await gateway.post(Self.query().added(to: "/authorize"), ["confirm": "yes"])
        #expect(response.status == 502)
        #expect(response.text.contains("answer-to-enforced"))
      }
    }
  }

  @Test("I-observe: a form with a sealed state is a re-entry, even if its other part names an observed client")
  func sealedState() async throws {
    try await GatewayFixture.run(try MixedObserveTests.mixed()) { gateway in
      let begun = try await gateway.begin()
      let state: Form = ["state": begun.state, "confirm": "yes"]
      let parts: [(query: Form, body: Form)] = [(Self.query(), state), (state, Self.query())]
      for (query, body) in parts {
        let headers = Headers.cookies([begun.cookie])
        let response = try await gateway.expectRefused(post: query.added(to: "/authorize"), body, headers, status: 400)
        #expect(response.text.contains("reentry-changed"))
      }
    }
  }

  @Test("I-observe: an observed client may send its token request by GET, in the query, or with two credentials")
  func tokenRequests() async throws {
    try await GatewayFixture.run(try MixedObserveTests.mixed()) { gateway in
      Self.showingForms(gateway)
      func send(_ method: String, _ query: String, _ body: String, _ user: String? = nil) -> Request {
        var request = Request(
          method: method, target: query.isEmpty ? "/token" : "/token?" + query, headers: Headers(),
          body: Array(body.utf8))
        if !body.isEmpty { request.headers.set("Content-Type", "application/x-www-form-urlencoded") }
        if let user { request.headers.set("Authorization", "Basic " + Base64.encode(Array("\(user):x".utf8))) }
        return request
      }
      let rest = "grant_type=authorization_code&code=rawcode0123456&redirect_uri=com.example.watched:/cb"
      for client in ["watched", "n1", "N1", "legacy-native"] {
        let requests = [
          send("GET", rest + "&client_id=\(client)", ""), send("POST", "client_id=\(client)", rest),
          send("POST", "client_id=\(client)", rest + "&client_id=\(client)"),
          send("POST", "", rest + "&client_id=\(client)&client_secret=x", client), send("GET", rest, "", client),
        ]
        for request in requests {
          guard client == "watched" else {
            try await gateway.expectRefused(request)
            continue
          }
          let before = gateway.upstream.recorder.count
          #expect(try await gateway.send(request).status == 200)
          #expect(gateway.upstream.recorder.count == before + 1)
          #expect(gateway.upstream.recorder.requests(to: "/token").last?.target == request.target)
          #expect(gateway.logLines.last?.contains("\"client\":\"watched\"") == true)
        }
      }
      for request in [
        send("GET", rest + "&client_id=watched", "", "n1"), send("POST", "client_id=n1", rest + "&client_id=watched"),
        send("POST", rest + "&client_id=watched", "client_id=n1"),
        send("GET", rest.replacing("com.example.watched", with: "com.example.app") + "&client_id=watched", ""),
      ] {
        try await gateway.expectRefused(request)
      }
    }
  }

  @Test("I-observe: a code of an enforced sign-in is refused in the query of an observed token request, too")
  func ownedCode() async throws {
    try await GatewayFixture.run(try MixedObserveTests.mixed()) { gateway in
      let begun = try await gateway.begin()
      let session = try await gateway.legacySession()
      gateway.upstream.script { request in
        guard request.path == "/authorize" else { return nil }
        let state = Form(decoding: request.query ?? "")["state"] ?? ""
        let body = Form(decoding: String(decoding: request.body, as: UTF8.self))["state"] ?? state
        return Response(
          status: 302,
          headers: ["Location": "https://gw.example/.proofgate/callback?code=rawcode9876543&state=" + body])
      }
      let completed = try await gateway.allow(begun, cookies: [begun.cookie, session])
      #expect(completed.location?.hasPrefix("com.example.p1:/cb?code=") == true)
      let query = "grant_type=authorization_code&client_id=watched&code="
      let response = try await gateway.expectRefused(get: "/token?" + query + "rawcode9876543", status: 400)
      #expect(response.text.contains("code-unbound"))
      let sealed = try #require(completed.answer["code"])
      try await gateway.expectRefused(get: "/token?" + query + sealed)
    }
  }
}
