import FoundationEssentials
import GatewayTestSupport
import HTTP
import LegacyServer
import Policy
import Testing

/// Pages of the server that redirect with a code: its login page, which `upstream.completion_paths` of the fixture lists,
/// and pages that send back a value of the request as if it were a code.
@Suite("I-completion: the paths that complete sign-ins")
struct CompletionPathTests {
  private static let callback = "https://gw.example/.proofgate/callback"

  /// A place of a request that a page may send back, and the spelling of the code there.
  struct Echo: CustomTestStringConvertible, Sendable {
    let place: String
    let spelling: String

    var testDescription: String { "\(place), \(spelling)" }

    /// Returns a request for the path that contains the address with the code.
    func request(_ path: String, _ address: String, _ cookie: String) -> Request {
      var (target, headers, body) = (path, Headers.cookies([cookie]), "a=b")
      headers.append("Content-Type", "application/x-www-form-urlencoded")
      let text = spelled(address)
      switch place {
      case "query": target += "?next=" + text.replacing("&", with: "%26")
      case "body": body = "x=y&next=" + text.replacing("&", with: "%26")
      case "cookie": headers.append("Cookie", "next=" + text.replacing(";", with: "%3B"))
      case "Authorization": headers.append(place, "Basic " + text)
      case "stored": break
      default: headers.append(place, text)
      }
      return Request(method: "POST", target: target, headers: headers, body: Array(body.utf8))
    }

    private func spelled(_ text: String) -> String {
      let base64 = Data(text.utf8).base64EncodedString()
      return switch spelling {
      case "percent": text.utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
      case "base64": base64
      case "base64 in a value": "de-DE,v=" + base64.trimmingSuffix("=") + ";q=0.9"
      case "base64url": base64.replacing("+", with: "-").replacing("/", with: "_").trimmingSuffix("=")
      case "percent in base64": Data(text.replacing("C", with: "%43").utf8).base64EncodedString()
      case "base64 with line ends": String(base64.prefix(70)) + "%0D%0A" + base64.dropFirst(70)
      default: text
      }
    }

    static let all: [Echo] = {
      let places = [
        "query", "body", "cookie", "Referer", "Origin", "User-Agent", "Accept-Language", "Authorization", "X-Return-To",
      ]
      let spellings = [
        "plain", "percent", "base64", "base64 in a value", "base64url", "percent in base64", "base64 with line ends",
      ]
      return places.flatMap { place in spellings.map { Echo(place: place, spelling: $0) } }
    }()
  }

  /// Begins a sign-in at a server that redirects from every other page to the callback with `code`.
  private func begin(_ gateway: GatewayFixture, code: String) async throws -> (begun: Begun, address: String) {
    gateway.upstream.script { request in
      request.path == "/authorize" ? Response(status: 302, headers: ["Location": "/login"]) : nil
    }
    let begun = try await gateway.begin()
    let address = "\(Self.callback)?code=\(code)&state=\(begun.state)"
    gateway.upstream.script { request in
      request.path == "/authorize" ? nil : Response(status: 302, headers: ["Location": address])
    }
    return (begun, address)
  }

  @Test("I-completion: a code from a page that is not listed is claimed and refused, wherever the page has it from")
  func unlisted() async throws {
    try await GatewayFixture.run { gateway in
      for (index, echo) in (Echo.all + [Echo(place: "stored", spelling: "plain")]).enumerated() {
        let code = "stolenCode\(1000 + index)"
        let (begun, address) = try await begin(gateway, code: code)
        let response = try await gateway.send(echo.request("/back", address, begun.cookie))
        #expect(response.status == 502 && response.location == nil, "\(echo)")
        let explanation = "<code>/back</code> is not in <code>upstream.completion_paths</code>"
        #expect(response.text.contains(explanation), "\(echo): \(response.text)")
        #expect(!response.text.contains(code))
        let line = try #require(gateway.logLines.last)
        #expect(line.member("rule") == "completion-path" && line.member("path") == "/back", "\(line)")
        #expect(line.member("client") == "p1" && line.member("decision") == "reject")
        // The same code cannot complete the sign-in at a page that is listed.
        let later = try await gateway.post("/login", ["password": "p"], Headers.cookies([begun.cookie]))
        #expect(later.location == nil && later.text.contains("answer-replayed"), "\(echo): \(later.text)")
      }
    }
  }

  @Test("I-completion: a code in any field of the request is not completed at a listed page")
  func echoedAtListedPage() async throws {
    try await GatewayFixture.run { gateway in
      for (index, echo) in Echo.all.enumerated() {
        let (begun, address) = try await begin(gateway, code: "stolenCode\(1000 + index)")
        let response = try await gateway.send(echo.request("/login", address, begun.cookie))
        #expect(response.status == 400 && response.location == nil, "\(echo)")
        #expect(response.text.contains("answer-echoed"), "\(echo): \(response.text)")
      }
    }
  }

  @Test("I-completion: a code is completed at each spelling of a listed path, and at no other path")
  func paths() async throws {
    try await GatewayFixture.run { gateway in
      for (index, path) in ["/login", "/login/", "/login/step2", "/login;jsessionid=1", "/Login?step=2"].enumerated() {
        let (begun, _) = try await begin(gateway, code: "freshCode\(1000 + index)")
        let response = try await gateway.post(path, ["password": "p"], Headers.cookies([begun.cookie]))
        #expect(response.location?.hasPrefix("com.example.p1:/cb?code=") == true, "\(path)")
      }
      for (index, path) in ["/", "/loginx", "/back/login", "/login/../back", "/login/%2e%2e/back"].enumerated() {
        let (begun, _) = try await begin(gateway, code: "freshCode\(2000 + index)")
        let response = try await gateway.post(path, ["password": "p"], Headers.cookies([begun.cookie]))
        #expect(response.location == nil && response.text.contains("completion-path"), "\(path)")
      }
    }
  }

  @Test("I-completion: without completion_paths the authorization endpoints alone complete sign-ins")
  func defaultPaths() async throws {
    let policy = try FixturePolicy.with {
      $0.upstream.completionPaths = []
      $0.upstream.endpoints.authorization = ["/authorize", "/v1/authorize"]
    }
    try await GatewayFixture.run(policy) { gateway in
      let (begun, _) = try await begin(gateway, code: "freshCode1000")
      let page = try await gateway.post("/login", ["password": "p"], Headers.cookies([begun.cookie]))
      #expect(page.location == nil && page.text.contains("completion-path"))
      let next = try await gateway.begin()
      gateway.upstream.script { _ in
        Response(status: 302, headers: ["Location": "\(Self.callback)?code=freshCode2000&state=\(next.state)"])
      }
      let target = next.target.replacing("/authorize", with: "/v1/authorize")
      let response = try await gateway.get(target, Headers.cookies([next.cookie]))
      #expect(response.location?.hasPrefix("com.example.p1:/cb?code=") == true)
    }
  }

  @Test("I-completion: an error is completed at every path")
  func errors() async throws {
    try await GatewayFixture.run { gateway in
      let (begun, _) = try await begin(gateway, code: "unused0123")
      gateway.upstream.script { _ in
        Response(status: 302, headers: ["Location": "\(Self.callback)?error=access_denied&state=\(begun.state)"])
      }
      let response = try await gateway.post("/deny", ["a": "b"], Headers.cookies([begun.cookie]))
      let answer = try response.expectErrorRedirect(to: "com.example.p1:/cb")
      #expect(answer["error"] == "access_denied")
    }
  }

  @Test("I-completion: the code of another browser's sign-in is claimed at a page that is not listed")
  func otherBrowser() async throws {
    try await GatewayFixture.run { gateway in
      let (begun, _) = try await begin(gateway, code: "stolenCode1000")
      let response = try await gateway.get("/back")
      #expect(response.location == nil && response.text.contains("completion-path"))
      let later = try await gateway.post("/login", ["password": "p"], Headers.cookies([begun.cookie]))
      #expect(later.location == nil && later.text.contains("answer-replayed"))
    }
  }

  @Test("I-observe: the log names the page from which an observed code came, and whether it is listed")
  func observed() async throws {
    try await GatewayFixture.run(try ObserveTests.observing()) { gateway in
      let pages = [("/login", "/login", true), ("/interaction/x9f4k2/done", "/interaction/*/done", false)]
      for (path, logged, isListed) in pages {
        let code = "rawCode\(logged.utf8.count)0123"
        let state = "state\(logged.utf8.count)"
        let location = "com.example.p1:/cb?code=\(code)&state=\(state)"
        gateway.upstream.script { request in
          switch request.path {
          case "/authorize": Response(status: 200)
          case "/token":
            Response(
              status: 200, headers: ["Content-Type": "application/json"],
              body: Array(#"{"access_token":"a","token_type":"Bearer"}"#.utf8))
          default: Response(status: 302, headers: ["Location": location])
          }
        }
        _ = try await gateway.get(gateway.authorizationTarget("p1") { $0.set("state", state) })
        let response = try await isListed ? gateway.get(path) : gateway.post(path, ["answer": "yes"])
        #expect(response.location == location)
        let line = try #require(gateway.logLines.last)
        #expect(line.member("path") == logged, "\(line)")
        #expect(line.contains("would-reject:completion-path") == !isListed, "\(line)")
        #expect(line.member("client") == (isListed ? nil : "p1"))
        // A page that repeats the code later shows nothing about the server.
        #expect(try await gateway.get("/back").location == location)
        #expect(gateway.logLines.last?.contains("completion-path") == false)
        _ = try await gateway.redeem(code, "p1")
        let redemption = try #require(gateway.logLines.last)
        #expect(redemption.member("path") == logged, "\(redemption)")
      }
      // A text that no request has asked for is no response.
      gateway.upstream.script { _ in Response(status: 302, headers: ["Location": "com.example.p1:/cb?code=x&state=no"])
      }
      _ = try await gateway.get("/back")
      #expect(gateway.logLines.last?.contains("completion-path") == false)
    }
  }
}

extension String {
  fileprivate func trimmingSuffix(_ character: Character) -> String {
    var text = self
    while text.last == character { text.removeLast() }
    return text
  }
}
