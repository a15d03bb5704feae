import GatewayTestSupport
import HTTP
import JSON
import LegacyServer
import Testing

@testable import Gateway

@Suite("Errors for programs")
struct ProblemTests {
  private static let browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"

  private func expectProblem(
    _ response: Response, _ status: Int, _ title: String, rule: String? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    #expect(response.status == status, sourceLocation: sourceLocation)
    #expect(response.headers.all("Content-Type") == ["application/problem+json"], sourceLocation: sourceLocation)
    #expect(response.headers["Cache-Control"] == "no-store", sourceLocation: sourceLocation)
    let members = try #require(JSONValue.members(of: response.body), sourceLocation: sourceLocation)
    let type = members["type"]?.text
    #expect(
      rule.map { type?.hasSuffix("/.proofgate/rules/\($0)") ?? false } ?? (type == "about:blank"),
      sourceLocation: sourceLocation)
    #expect(members["title"] == .string(title), sourceLocation: sourceLocation)
    #expect(members["status"] == .integer(Int64(status)), sourceLocation: sourceLocation)
    #expect(members["detail"]?.text?.isEmpty == false, sourceLocation: sourceLocation)
    #expect(members["rule"]?.text == rule, sourceLocation: sourceLocation)
  }

  private func expectPage(
    _ response: Response, _ status: Int, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(response.status == status, sourceLocation: sourceLocation)
    #expect(response.headers["Content-Type"] == "text/html; charset=utf-8", sourceLocation: sourceLocation)
  }

  @Test(
    "A proxied request without a response gets problem details, or a page if it accepts HTML",
    arguments: [false, true])
  func upstream(hasBody: Bool) async throws {
    try await GatewayFixture.run { gateway in
      try await gateway.withReplica(upstream: .dead) { broken in
        func send(_ accept: String?) async throws -> Response {
          var request = Request(method: hasBody ? "PUT" : "GET", target: "/api/me")
          if hasBody {
            request.headers.append("Content-Type", "application/json")
            request.body = Array("{}".utf8)
          }
          if let accept { request.headers.append("Accept", accept) }
          return try await broken.send(request)
        }
        for accept in ["application/json", "*/*", nil] {
          let response = try await send(accept)
          try expectProblem(response, 503, "Service Unavailable")
          #expect(response.headers.contains("Retry-After"))
        }
        expectPage(try await send(Self.browser), 503)
      }
    }
  }

  @Test("A request with a refused path or host gets problem details with the rule, or a page for a browser")
  func refused() async throws {
    try await GatewayFixture.run { gateway in
      for (target, host, status, title, rule) in [
        ("/oauth/../token", nil, 400, "Bad Request", "path-ambiguous"),
        ("/login", "evil.example", 421, "Misdirected Request", "host-unknown"),
      ] {
        var headers: Headers = ["Accept": "application/json"]
        if let host { headers.append("Host", host) }
        try expectProblem(try await gateway.get(target, headers), status, title, rule: rule)
        headers.set("Accept", Self.browser)
        expectPage(try await gateway.get(target, headers), status)
      }
    }
  }

  @Test("The token endpoint always sends the errors of RFC 6749, and the authorization endpoint always a page")
  func endpoints() async throws {
    try await GatewayFixture.run { gateway in
      let token = try await gateway.post("/token", ["grant_type": "password"], ["Accept": "application/problem+json"])
      #expect(token.headers["Content-Type"] == "application/json")
      expectPage(try await gateway.get("/authorize?client_id=nobody", ["Accept": "application/json"]), 400)
    }
  }
}
