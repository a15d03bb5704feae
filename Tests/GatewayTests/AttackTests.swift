import GatewayTestSupport
import HTTP
import LegacyServer
import Testing

/// Attack classes 10 to 13 as raw requests to a gateway. The recording upstream must see no request, or one request
/// with the meaning that the gateway decided on.
@Suite("Attacks on a gateway")
struct AttackTests {
  private static let head = "Host: gw.example\r\nX-Forwarded-Proto: https\r\n"

  private func status(
    _ gateway: GatewayFixture, _ line: String, _ fields: String = "", _ body: String = ""
  ) async throws -> Int {
    let length = body.isEmpty ? "" : "Content-Length: \(body.utf8.count)\r\n"
    let request = "\(line) HTTP/1.1\r\n\(Self.head)\(fields)\(length)Connection: close\r\n\r\n\(body)"
    let answer = try await ClientLoop.sendRaw(Array(request.utf8), toPort: gateway.port)
    return Int(String(decoding: answer.dropFirst(9).prefix(3), as: UTF8.self)) ?? 0
  }

  @Test("No spelling of an endpoint's path reaches the upstream, whichever server would resolve it (attack class 10)")
  func paths() async throws {
    let spellings = [
      "/Token", "/TOKEN", "/%74oken", "/%2574oken", "//token", "/token/", "/token//", "/./token", "/x/../token",
      "/x/%2e%2e/token", "/x/..%2ftoken", "/..;/token", "/x/..;/token", "/token;", "/token;a=b", "/token%3b",
      "/token%00",
      "/token%00.css", "/token%20", "/token.", "/token.json", "/token/.", "/token/x/..", "/token//..", "/token/;x/..",
      "/token/%20/..", "/token/.../..", "/token/a//../..", "/token%2f%2f..", "\\token", "/%5ctoken", "/x%5c..%5ctoken",
      "/%c0%aftoken", "/%ef%bd%94oken", "/%u0074oken", "/index.php/token", "/?r=token", "/x.php?rest_route=/token",
      "/(S(x))/token", "/token/info", "/token%0a", "/token%09", "/token%3fx", "/token%23x", "/x/%252e%252e/token",
    ]
    try await GatewayFixture.run { gateway in
      let form = gateway.tokenForm("rawcode").encoded
      for spelling in spellings {
        let status = try await status(
          gateway, "POST \(spelling)", "Content-Type: application/x-www-form-urlencoded\r\n", form)
        #expect(status == 400, "\(spelling)")
      }
      #expect(gateway.upstream.recorder.count == 0)
    }
  }

  @Test("No field and no parameter changes the meaning of a request (attack class 11)")
  func overrides() async throws {
    try await GatewayFixture.run { gateway in
      let form = gateway.tokenForm("rawcode").encoded
      for name in ["X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override", "X_HTTP_Method_Override"] {
        #expect(try await status(gateway, "GET /token?\(form)", "\(name): POST\r\n") >= 400)
      }
      #expect(try await status(gateway, "GET /token?\(form)&_method=POST") >= 400)
      #expect(gateway.upstream.recorder.count == 0)
      let claims = [
        "X-Original-URL: /token", "X-Rewrite-URL: /token", "X-Original-URI: /token", "X_Original_URL: /token",
        "X-Forwarded-Path: /token", "X-Forwarded-Uri: /token", "X-Forwarded-Prefix: /x", "X-Forwarded-User: root",
        "X-Forwarded-Port: 81", "X-Real-IP: 127.0.0.1", "True-Client-IP: 127.0.0.1", "Remote-User: root",
        "Path-Info: /token",
        "Script-Name: /token", "Client-Cert: x", "X-Forwarded-Client-Cert: x", "Proxy: http://evil.test",
        "X-Up-Devcap-Post-Charset: utf-7",
      ]
      #expect(try await status(gateway, "GET /elsewhere", claims.map { "\($0)\r\n" }.joined()) < 500)
      let request = try #require(gateway.upstream.recorder.requests(to: "/elsewhere").first)
      for claim in claims {
        let name = String(claim.prefix { $0 != ":" })
        #expect(!request.headers.contains(name), "\(name)")
      }
      #expect(gateway.upstream.recorder.count == 1)
    }
  }

  @Test("A form that some server parses differently is refused (attack class 12)")
  func bodies() async throws {
    let form = "application/x-www-form-urlencoded"
    let fields = [
      "", "Content-Type:\r\n", "Content-Type: text/plain\r\n", "Content-Type: application/json\r\n",
      "Content-Type: multipart/form-data; boundary=x\r\n", "Content-Type: application/xml\r\n",
      "Content-Type: \(form), text/plain\r\n", "Content-Type: text/plain; \(form)\r\n", "Content-Type: \(form)x\r\n",
      "Content-Type: \(form)\r\nContent-Type: \(form)\r\n",
      "Content-Type: \(form)\r\nContent-Type: application/json\r\n",
      "Content-Type: \(form); charset=utf-16\r\n", "Content-Type: \(form); charset=ibm037\r\n",
      "Content-Type: \(form);charset=utf-7\r\n", "Content-Type: \(form); CHARSET = utf-7\r\n",
      "Content-Type: \(form); a=b; charset=utf-16\r\n", "Content-Type: \(form); a=b\u{600};charset=utf-16\r\n",
      "Content-Type: \(form); x=1, charset=utf-7\r\n", "Content-Type: \(form); x charset=utf-7\r\n",
      "Content-Type: \(form),charset=utf-7\r\n", "Content-Type: \(form)\tcharset=utf-7\r\n",
      "Content-Type: \(form); x=1\r\n",
      "Content-Type: \(form)\r\nContent-Encoding: gzip\r\n", "Content-Type: \(form)\r\nContent-Encoding: deflate\r\n",
      "Content-Type: \(form)\r\nContent-Encoding: br\r\n",
      "Content-Type: \(form)\r\nContent-Encoding: identity, gzip\r\n",
      "Content-Type: \(form)\r\nContent-Encoding: x\r\nContent-Encoding: identity\r\n", "Content_Type: \(form)\r\n",
    ]
    try await GatewayFixture.run { gateway in
      let code = gateway.tokenForm("rawcode").encoded
      let query = String(gateway.authorizationTarget("p1").split(separator: "?")[1])
      for field in fields {
        let token = try await status(gateway, "POST /token", field, code)
        #expect((400..<500).contains(token), "\(field)")
        let authorization = try await status(gateway, "POST /authorize", field, query)
        #expect((400..<500).contains(authorization), "\(field)")
      }
      #expect(gateway.upstream.recorder.count == 0)
    }
  }

  @Test("A parameter that two readers could read differently is refused (attack class 12)")
  func parameters() async throws {
    let additions = [
      "client_id=n2", "%63lient_id=n2", "client%5fid=n2", "client%255fid=n2", "Client_Id=n2", "CLIENT_ID=n2",
      "client_id[]=n2",
      "client_id[0]=n2", "client[id=n2", "client.id=n2", "client%20id=n2", "+client_id=n2", "%20client_id=n2",
      "client_id%00=n2", "client_id%00x=n2", "client_id%20=n2", "a=b;client_id=n2", ";client_id=n2",
      "a=b;client_id=n2;c=d",
      "redirect_uri=https://evil.test/", "redirect_uri[]=https://evil.test/", "Redirect_Uri=https://evil.test/",
      "redirect.uri=https://evil.test/", "response_type=token", "response_type[]=token", "state=x", "state[]=x",
      "code_challenge=x", "code.challenge=x", "code_challenge_method=plain", "request=eyJ",
      "request_uri=https://evil.test/r",
      "request_uri=urn:ietf:params:oauth:request_uri:x", "registration={}",
      "response_mode=fragment&response_mode=query",
      "client_id=%ff", "%ff=x", "%zz=x", "redirect_uri=%0d%0aSet-Cookie:x", "scope=a&scope=b",
    ]
    try await GatewayFixture.run { gateway in
      let target = gateway.authorizationTarget("p1")
      let form = target.split(separator: "?")[1]
      for addition in additions {
        for query in ["\(form)&\(addition)", "\(addition)&\(form)"] {
          let answer = try await gateway.get("/authorize?\(query)")
          #expect(answer.status >= 300, "\(query)")
          #expect(!(answer.location ?? "").contains("evil"), "\(query)")
          let posted = try await status(
            gateway, "POST /authorize", "Content-Type: application/x-www-form-urlencoded\r\n", query)
          #expect(posted >= 300, "\(query)")
        }
        let split = try await status(
          gateway, "POST /authorize?\(addition)", "Content-Type: application/x-www-form-urlencoded\r\n", String(form))
        #expect(split >= 300, "\(addition)")
      }
      #expect(gateway.upstream.recorder.count == 0)
    }
  }

  @Test("The gateway never redirects to an unregistered address (attack class 13)")
  func redirects() async throws {
    let addresses = [
      "https://evil.test/", "https://app.example.com/", "https://app.example.com/cb/", "https://app.example.com/cb?x=y",
      "https://app.example.com/cb#x", "https://app.example.com/cb/../evil", "https://app.example.com/x/../cb",
      "https://app.example.com/%63b", "https://app.example.com//cb", "https://app.example.com:443/cb",
      "https://app.example.com:444/cb", "https://app.example.com./cb", "https://APP.example.com/cb",
      "https://app.example.com@evil.test/cb", "https://evil.test@app.example.com/cb",
      "https://app.example.com%40evil.test/cb",
      "https://app.example.com\\@evil.test/cb", "https://app.example.com.evil.test/cb",
      "https://evil.test/app.example.com/cb",
      "http://app.example.com/cb", "//app.example.com/cb", "/cb", "https:/app.example.com/cb",
      "https:app.example.com/cb",
      "https://app.example.com/cb%00", "https://app.example.com/cb%0d%0a", "https://app.example.com/cb\t",
      " https://app.example.com/cb",
      "com.example.app://cb", "com.example.app:/cb2", "COM.example.app:/cb", "com.example.app:cb",
      "com.example.app2:/cb",
      "http://127.0.0.1.evil.test/cb", "http://127.0.0.1:80@evil.test/cb", "http://127.0.0.2/cb", "http://localhost/cb",
      "http://0.0.0.0/cb", "http://127.1/cb", "http://2130706433/cb", "http://[::ffff:127.0.0.1]/cb",
      "http://127.0.0.1/cb/x",
      "http://127.0.0.1:99999/cb", "https://127.0.0.1/cb", "javascript:alert(1)", "data:text/html,x", "about:blank",
      "https://gw.example/.proofgate/callback", "https://app.example.com/cb\u{301}",
      "https://\u{ff41}pp.example.com/cb",
    ]
    try await GatewayFixture.run { gateway in
      for address in addresses {
        for change in ["state", "response_type", "code_challenge_method"] {
          // Combined with other errors, which must not be sent to that address either.
          let answer = try await gateway.get(
            gateway.authorizationTarget("n1", address) { form in if change != "state" { form.set(change, "x") } })
          #expect(answer.status == 400, "\(address)")
          #expect(answer.location == nil && answer.headers["Refresh"] == nil, "\(address)")
        }
      }
      #expect(gateway.upstream.recorder.count == 0)
    }
  }
}
