import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Testing

/// Parameters and credentials in places that the gateway does not read: cookies, which PHP and classic ASP read like
/// parameters, and other fields than `Authorization`.
@Suite("I-credentials: parameters in cookies and fields")
struct ParameterPlaceTests {
  /// n1 is enforced, `watched` is observed.
  private static func mixed(_ adjust: (inout FixturePolicy) -> Void = { _ in }) throws -> Policy {
    try MixedObserveTests.mixed { policy in
      policy.upstream.endpoints.pushedAuthorization = ["/par"]
      policy.edit("w1") { $0.pushedAuthorization = .optional }
      policy.upstream.keptHeaders = ["X-IBM-Client-Id"]
      adjust(&policy)
    }
  }

  /// Requests that clients send directly and that pass, in the policy above.
  private static let passing: [(String, Form)] = [
    ("/token", ["grant_type": "refresh_token", "refresh_token": "x", "client_id": "watched"]),
    ("/revoke", ["token": "x"]), ("/revoke", ["token": "x", "client_id": "watched"]),
    ("/introspect", ["token": "x"]), ("/introspect", ["token": "x", "client_id": "watched"]),
    ("/par", ["client_id": "watched", "response_type": "code"]),
  ]

  private static let credentials: Headers = [
    "Proxy-Authorization": "Basic x", "X-Authorization": "Basic x", "X-Client-Id": "n1", "Client-Secret": "guess",
    "X-OAuth-Password": "guess",
  ]

  @Test("I-credentials: no cookie and no other credentials go upstream from endpoints that clients call directly")
  func clientEndpoints() async throws {
    try await GatewayFixture.run(try Self.mixed()) { gateway in
      gateway.upstream.script { _ in Response(status: 200) }
      for (path, form) in Self.passing {
        var headers: Headers = ["Cookie": "client_id=n1; client_secret=guess; sid=1", "X-App": "1"]
        headers.append("Cookie", "refresh_token=raw")
        headers.append("X-IBM-Client-Id", "kept")
        for field in Self.credentials.fields { headers.append(field.name, field.value) }
        let before = gateway.upstream.recorder.requests(to: path).count
        _ = try await gateway.post(path, form, headers)
        let sent = gateway.upstream.recorder.requests(to: path)
        #expect(sent.count == before + 1, "\(path) \(form.encoded)")
        let fields = try #require(sent.last?.headers)
        #expect(!fields.contains("Cookie"), "\(path)")
        #expect(!fields.fields.contains { Self.credentials.contains($0.name) }, "\(path)")
        #expect(fields["X-App"] == "1")
        #expect(fields["X-IBM-Client-Id"] == "kept")
        let line = try #require(gateway.logLines.last)
        let findings = ["cookie-withheld", "credential-field:authorization", "credential-field:clientid"]
        #expect(findings.allSatisfy { line.contains($0) }, "\(line)")
        #expect(!line.contains("guess"))
      }
    }
  }

  @Test("I-credentials: the cookies that choose the server go upstream")
  func affinity() async throws {
    let policy = try Self.mixed { $0.upstream.affinity = .cookie("JSESSIONID") }
    try await GatewayFixture.run(policy) { gateway in
      gateway.upstream.script { _ in Response(status: 200) }
      let cookies = "a=b; JSESSIONID=1.node; client_id=n1; JSESSIONID-address=0001; JSESSIONID=2,client_id=n1"
      for (path, form) in Self.passing {
        _ = try await gateway.post(path, form, ["Cookie": cookies])
        let sent = try #require(gateway.upstream.recorder.requests(to: path).last)
        #expect(sent.headers.all("Cookie") == ["JSESSIONID=1.node; JSESSIONID-address=0001"])
      }
    }
  }

  private static let spellings = [
    "scope=admin", "client_id=n1", "SCOPE=admin", "%73cope=admin", "redirect%5Furi=x", "redirect%u005Furi=x",
    "redirect%255Furi=x", "redirect.uri=x", "redirect[uri=x", "client_id[]=n1", "+client_id=n1", "scope =x",
    "code_challenge=x", "response_mode=fragment", "request_uri=x", "state=x", "resource=x", "a=b,client_id=n1",
    "audience=x", "claims=x",
  ]

  @Test("I-request: a cookie with the name of a checked parameter does not reach the authorization endpoint")
  func authorization() async throws {
    try await GatewayFixture.run(try Self.mixed()) { gateway in
      let begun = try await gateway.begin()
      let own = begun.cookie
      var reentry = begun.query
      reentry.append("confirm", "yes")
      let targets = [
        gateway.authorizationTarget("p1"), gateway.authorizationTarget("watched"), "/authorize?" + begun.query.encoded,
      ]
      for spelling in Self.spellings {
        let headers: Headers = ["Cookie": "sid=1; \(spelling); \(own); lang=de"]
        for target in targets {
          let before = gateway.upstream.recorder.requests(to: "/authorize").count
          _ = try await gateway.get(target, headers)
          let sent = gateway.upstream.recorder.requests(to: "/authorize")
          #expect(sent.count == before + 1, "\(target)")
          #expect(sent.last?.headers.all("Cookie") == ["sid=1; lang=de"], "\(spelling) \(target)")
          #expect(gateway.logLines.last?.contains("cookie-parameter:") == true, "\(spelling)")
        }
        _ = try await gateway.post("/authorize", reentry, headers)
        #expect(gateway.upstream.recorder.requests(to: "/authorize").last?.headers.all("Cookie") == ["sid=1; lang=de"])
      }
    }
  }

  @Test("I-path: cookies that make a passing request an OAuth request do not go upstream, and others do")
  func passingPaths() async throws {
    try await GatewayFixture.run { gateway in
      gateway.upstream.script { _ in Response(status: 200) }
      let others = "state=1; nonce=2; scope=3; token=4; refresh_token=5; connect.sid=6; a=b,c; d"
      let names = [
        "grant_type", "client_id", "response_type", "Client_Id", "client.id", "client[id", "grant%5ftype",
        "grant%u005Ftype", "a=b,grant_type",
      ]
      for name in names {
        _ = try await gateway.get("/login", ["Cookie": "\(name)=x; \(others)"])
        #expect(gateway.upstream.recorder.requests.last?.headers.all("Cookie") == [others], "\(name)")
        _ = try await gateway.get("/login", ["Cookie": "\(name)=x"])
        #expect(gateway.upstream.recorder.requests.last?.headers.contains("Cookie") == false, "\(name)")
      }
      let findings = ["grant_type", "client_id", "response_type"].map { "cookie-parameter:\($0)" }
      for finding in findings {
        // At most once a minute.
        #expect(gateway.logLines.count { $0.contains(finding) } == 1)
      }
      let lines = gateway.logLines.count
      _ = try await gateway.get("/login", ["Cookie": others])
      #expect(gateway.upstream.recorder.requests.last?.headers.all("Cookie") == [others])
      #expect(gateway.logLines.count == lines)
    }
  }

  @Test("I-observe: if no client is enforced, cookies and fields pass unchanged and are findings")
  func observed() async throws {
    try await GatewayFixture.run(try ObserveTests.observing()) { gateway in
      gateway.upstream.script { _ in Response(status: 200) }
      let cookie = "client_id=n1; scope=admin; sid=1"
      for (path, form) in Self.passing where path != "/par" {
        var headers = Self.credentials
        headers.append("Cookie", cookie)
        _ = try await gateway.post(path, form, headers)
        let sent = try #require(gateway.upstream.recorder.requests(to: path).last)
        #expect(sent.headers.all("Cookie") == [cookie])
        #expect(Self.credentials.fields.allSatisfy { sent.headers[$0.name] == $0.value }, "\(path)")
        let line = try #require(gateway.logLines.last)
        #expect(line.contains("cookie-withheld") && line.contains("credential-field:secret"), "\(line)")
      }
      for target in [gateway.authorizationTarget("n1"), "/login"] {
        _ = try await gateway.get(target, ["Cookie": cookie])
        #expect(gateway.upstream.recorder.requests.last?.headers.all("Cookie") == [cookie])
        #expect(gateway.logLines.last?.contains("cookie-parameter:client_id") == true)
      }
    }
  }

  @Test("A form that ends in a line end is read and sent without it", arguments: ["\n", "\r\n"])
  func lineEnd(end: String) async throws {
    try await GatewayFixture.run { gateway in
      gateway.upstream.script { _ in Response(status: 200) }
      let body = Array(("token_type_hint=access_token&token=x" + end).utf8)
      for path in ["/introspect", "/revoke"] {
        let headers: Headers = ["Content-Type": "application/x-www-form-urlencoded; charset=UTF8"]
        let response = try await gateway.send(Request(method: "POST", target: path, headers: headers, body: body))
        #expect(response.status == 200)
        let sent = try #require(gateway.upstream.recorder.requests(to: path).last)
        #expect(String(decoding: sent.body, as: UTF8.self) == "token_type_hint=access_token&token=x")
        #expect(sent.headers.all("Content-Type") == ["application/x-www-form-urlencoded; charset=UTF-8"])
      }
    }
  }
}
