import Demo
import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Testing

/// Parameters of the server's authorization response that the gateway does not know.
@Suite("I-completion: unknown parameters of a response")
struct ResponseParameterTests {
  private static let callback = "https://gw.example/.proofgate/callback"
  private static let login = "/login/submit"

  /// Pairs of real servers, and pairs that no server should send.
  private static let pairs = [
    "realmId=4620816365009870", "authuser=0", "prompt=consent", "hd=example.com", "client_info=eyJ1aWQiOiIxIn0",
    "user_id=7", "location=eu", "accounts-server=https%3A%2F%2Faccounts.example.eu", "error_subcode=cancel",
    "error_reason=user_denied", "lang=de", "x=1&x=2", "%F0%9F%98%80=%F0%9F%98%80", "%FF=1", "%zz=%zz", "a=%FF", "=",
    "a%00b=1", "a=b;code=RAWSECOND0123", "xcode=RAWSECOND0123", "next=%2Fcb%3Fcode%3DRAWSECOND0123", "state.x=1",
    "access_token=RAWSECOND0123", "redirect_uri=https%3A%2F%2Fevil.example%2F%3Fcode%3DRAWSECOND0123", "scope[]=x",
    "\u{e9}=\u{e9}", "tenant[0][1]=2&tenant[0][1]=3",
  ]

  /// True if the text has a value of the server's response. The values are long, so that no sealed value has one by chance.
  private static func hasRawValue(_ text: String) -> Bool { text.contains("RAWCODE") || text.contains("RAWSECOND") }

  private func answering(_ gateway: GatewayFixture, _ location: String, at path: String = "/authorize") {
    gateway.upstream.script { request in
      request.path == path ? Response(status: 302, headers: ["Location": location]) : nil
    }
  }

  /// The answer for the app, which has no value of the server's response but the sealed code.
  private func expectAnswer(
    _ response: Response, _ names: [String], at redirectURI: String = "com.example.p1:/cb", _ comment: String
  ) {
    #expect(response.location?.hasPrefix("\(redirectURI)?") == true, "\(comment): \(response.status) \(response.text)")
    #expect(response.answer.fields.map(\.name) == names, "\(comment)")
    for field in response.headers.fields { #expect(!Self.hasRawValue(field.value), "\(comment)") }
    #expect(!Self.hasRawValue(response.text), "\(comment)")
  }

  @Test("I-completion: a code and a denial reach the app with every additional parameter, in any place")
  func everyParameter() async throws {
    try await GatewayFixture.run { gateway in
      for (index, pair) in Self.pairs.enumerated() {
        let begun = try await gateway.begin()
        let cookies = Headers.cookies([begun.cookie])
        let code = "RAWCODE0123456\(index)"
        for (query, names) in [
          ("code=\(code)&state=\(begun.state)&\(pair)", ["code", "state", "iss"]),
          ("\(pair)&state=\(begun.state)&code=\(code)", ["code", "state", "iss"]),
          ("\(pair)&error=access_denied&state=\(begun.state)", ["error", "error_description", "state", "iss"]),
          ("error=access_denied&\(pair)", ["error", "error_description", "state", "iss"]),
        ] {
          answering(gateway, "\(Self.callback)?\(query)")
          expectAnswer(try await gateway.get(begun.target, cookies), names, query)
          guard query.contains("state=" + begun.state) else { continue }
          answering(gateway, "\(Self.callback)?\(query)", at: Self.login)
          expectAnswer(try await gateway.get(Self.login, cookies), names, "login: " + query)
        }
      }
      #expect(!gateway.logLines.contains { $0.contains("answer-elsewhere") || Self.hasRawValue($0) })
    }
  }

  @Test("I-completion: a response over the network may have additional parameters, by GET and by POST")
  func network() async throws {
    let policy = try FixturePolicy.with {
      $0.upstream.callback = .atCallback
      $0.upstream.responseParameters = ["realmId"]
    }
    try await GatewayFixture.run(policy) { gateway in
      for (index, pair) in Self.pairs.enumerated() {
        let begun = try await gateway.begin()
        let cookies = Headers.cookies([begun.cookie])
        let names = pair.hasPrefix("realmId") ? ["code", "realmId", "state", "iss"] : ["code", "state", "iss"]
        let query = "code=RAWCODE0123456\(index)&state=\(begun.state)&\(pair)"
        if !pair.contains("\u{e9}") {
          expectAnswer(try await gateway.get("/.proofgate/callback?" + query, cookies), names, query)
        }
        var headers = cookies
        headers.append("Content-Type", "application/x-www-form-urlencoded")
        let posted = try await gateway.send(
          Request(method: "POST", target: "/.proofgate/callback", headers: headers, body: Array(query.utf8)))
        expectAnswer(posted, names, "POST " + query)
        answering(gateway, "\(Self.callback)?\(query)")
        expectAnswer(try await gateway.get(begun.target, cookies), names, "in place: " + query)
      }
      let begun = try await gateway.begin()
      let query = "code=RAWCODE0123456&state=\(begun.state)"
      for (count, isAccepted) in [(126, true), (127, false)] {
        let others = (0..<count).map { "&p\($0)=1" }.joined()
        let response = try await gateway.get("/.proofgate/callback?" + query + others, Headers.cookies([begun.cookie]))
        #expect((response.location != nil) == isAccepted, "\(count)")
      }
    }
  }

  @Test("I-completion: a sign-in with the gateway's consent page may end with additional parameters")
  func consent() async throws {
    let policy = try FixturePolicy.with { $0.upstream.responseParameters = ["realmId"] }
    try await GatewayFixture.run(policy) { gateway in
      gateway.upstream.script { request in
        guard request.path == "/authorize", let query = request.query else { return nil }
        let state = Form(decoding: query)["state"] ?? ""
        let answer = "code=RAWCODE0123456&state=\(state)&realmId=9&lang=de"
        return Response(status: 302, headers: ["Location": "\(Self.callback)?\(answer)"])
      }
      let delivery = try await gateway.walk("n1")
      #expect(delivery.parameters.fields.map(\.name) == ["code", "realmId", "state", "iss"])
      #expect(delivery.parameters["realmId"] == "9")
    }
  }

  @Test("I-completion: the app gets the listed parameters in each response mode, with a code and with an error")
  func modes() async throws {
    let policy = try FixturePolicy.with {
      $0.upstream.responseParameters = ["accounts-server", "realmId"]
      $0.edit("w1") {
        $0.responseModes = [.query, .fragment, .formPost]
        $0.consent = .upstream
      }
    }
    try await GatewayFixture.run(policy) { gateway in
      let server = "https://a.example/?x=1&y=\"<2>"
      let results = [("code=RAWCODE", ["code"]), ("error=access_denied&n=", ["error", "error_description"])]
      for (result, names) in results {
        for (index, mode) in ["query", "fragment", "form_post"].enumerated() {
          gateway.upstream.script { request in
            guard request.path == "/authorize", let query = request.query else { return nil }
            let answer: Form = [
              "state": Form(decoding: query)["state"] ?? "", "realmId": "9", "accounts-server": server, "x": "3",
              "lang": "de",
            ]
            let location = "\(Self.callback)?\(answer.encoded)&\(result)0123456\(index)"
            return Response(status: 302, headers: ["Location": location])
          }
          let delivery = try await gateway.walk("w1") { $0.append("response_mode", mode) }
          #expect(
            Set(delivery.parameters.fields.map(\.name))
              == Set(names + ["x", "accounts-server", "realmId", "state", "iss"]), "\(mode)")
          #expect(delivery.parameters["accounts-server"] == server, "\(mode)")
          #expect(delivery.parameters["realmId"] == "9", "\(mode)")
          // That of the redirect URI's own query.
          #expect(delivery.parameters["x"] == "1", "\(mode)")
        }
      }
    }
  }

  @Test("I-completion: a listed parameter that is repeated is dropped, and the log says so")
  func dropped() async throws {
    let policy = try FixturePolicy.with { $0.upstream.responseParameters = ["realmId"] }
    try await GatewayFixture.run(policy) { gateway in
      let begun = try await gateway.begin()
      answering(gateway, "\(Self.callback)?code=RAWCODE0123456&state=\(begun.state)&realmId=1&realmId=2")
      let response = try await gateway.get(begun.target, Headers.cookies([begun.cookie]))
      expectAnswer(response, ["code", "state", "iss"], "repeated")
      #expect(gateway.logLines.last?.contains("response-parameter-dropped") == true)
    }
  }

  @Test(
    "I-completion: a second spelling of the code never reaches the browser",
    arguments: ["Code=RAWSECOND0123", "code[]=RAWSECOND0123", "%2563ode=RAWSECOND0123", "code=RAWSECOND0123"])
  func secondSpelling(pair: String) async throws {
    try await GatewayFixture.run { gateway in
      let begun = try await gateway.begin()
      let cookies = Headers.cookies([begun.cookie])
      for query in ["code=RAWCODE0123456&state=STATE&\(pair)", "\(pair)&error=access_denied&state=STATE"] {
        for path in ["/authorize", Self.login] {
          answering(gateway, "\(Self.callback)?\(query.replacing("STATE", with: begun.state))", at: path)
          let response = try await gateway.get(path == Self.login ? Self.login : begun.target, cookies)
          #expect(!Self.hasRawValue(response.text + (response.location ?? "")), "\(query)")
          #expect(response.status == 502 || response.answer["error"] == "server_error", "\(query)")
        }
      }
    }
  }

  @Test("I-completion: a redirect URI with a query keeps it, and additional parameters do not matter")
  func sentQuery() async throws {
    let policy = try FixturePolicy.with { policy in
      policy.edit("p1") { $0.upstream.redirectURI = .fixed(Self.callback + "?tenant=1") }
    }
    try await GatewayFixture.run(policy) { gateway in
      for (query, isCompleted) in [
        ("tenant=1&code=RAWCODE0123456&state=STATE&realmId=1", true),
        ("realmId=1&code=RAWCODE1123456&state=STATE&tenant=1", true), ("error=x&tenant=1", true),
        ("code=RAWCODE2123456&state=STATE&realmId=1", false), ("tenant=2&code=RAWCODE3123456&state=STATE", false),
        ("tenant=1&code=RAWCODE4123456&state=STATE&tenant=2", false), ("tenant=1&error=x&tenant=2", false),
      ] {
        let begun = try await gateway.begin()
        answering(gateway, "\(Self.callback)?\(query.replacing("STATE", with: begun.state))")
        let response = try await gateway.get(begun.target, Headers.cookies([begun.cookie]))
        #expect((response.location?.hasPrefix("com.example.p1:/cb?") == true) == isCompleted, "\(query)")
        #expect(response.text.contains("answer-elsewhere") != isCompleted, "\(query)")
        #expect(!Self.hasRawValue(response.text + (response.location ?? "")), "\(query)")
      }
    }
  }

  @Test("I-observe: the response to an observed request is found with additional parameters")
  func observed() async throws {
    let policy = try FixturePolicy.with { policy in
      policy.unknownClients = .observe
      policy.mode = .observe
      policy.editAll { $0.mode = .observe }
    }
    try await GatewayFixture.run(policy) { gateway in
      let address = "https://stranger.example/cb"
      answering(gateway, "\(address)?code=RAWCODE0123456&state=s1&realmId=9")
      let response = try await gateway.get(gateway.authorizationTarget("stranger", address))
      #expect(response.location == "\(address)?code=RAWCODE0123456&state=s1&realmId=9")
      let flows = gateway.logLines.compactMap { $0.firstMatch(of: /"flow":"([0-9a-f]+)"/)?.1 }
      #expect(!flows.isEmpty && Set(flows).count == 1)
      answering(gateway, "\(address)?code=RAWCODE1123456&state=s1&realmId=9", at: Self.login)
      _ = try await gateway.get(Self.login)
      let later = gateway.logLines.compactMap { $0.firstMatch(of: /"flow":"([0-9a-f]+)"/)?.1 }
      #expect(later.count > flows.count && Set(later).count == 1)
    }
  }
}
