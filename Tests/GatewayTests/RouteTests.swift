import Demo
import GatewayTestSupport
import HTTP
import HTTP1
import LegacyServer
import OAuth
import PathReading
import Policy
import Proxy
import Sealing
import Testing
import Time

@testable import Gateway

@Suite("Routes of a policy")
struct RouteTests {
  private static func policy(_ routes: String, mode: String = "enforce") throws -> Policy {
    try FixturePolicy.yaml(
      """
      version: 1
      gateway:
        origin: http://127.0.0.1:8080
        listeners: [{ address: 127.0.0.1:0 }]
        sealing_keys: { file: KEYS }
        admin: off
      upstream:
        url: http://127.0.0.1:9000
        pass: [/]
        endpoints: { authorization: /authorize, token: /token, revocation: /revoke }
      enforcement: { mode: \(mode), raw_refresh_until: never }
      clients:
        - { id: n1, type: public, application: native, redirect_uris: ["com.example.app:/cb"], upstream: { client_id: u1 } }
      routes:
      \(routes)

      """)
  }

  private static func gateway(
    _ routes: String, mode: String = "enforce", _ body: (GatewayFixture) async throws -> Void
  ) async throws {
    try await GatewayFixture.run(try policy(routes, mode: mode), body)
  }

  private static func send(_ path: String, _ body: String, type: String = "text/plain") -> Request {
    Request(method: "POST", target: path, headers: ["Content-Type": type], body: Array(body.utf8))
  }

  @Test("A body that is too long for its route gets 413 with its limit, in all spellings of the path that pass")
  func bodies() async throws {
    try await Self.gateway("  - { prefix: /upload, body: 4 }") { gateway in
      for path in ["/upload", "/UPLOAD/a", "/upload/a%20b", "/upload;jsessionid=1?x=y"] {
        let response = try await gateway.send(Self.send(path, "12345"))
        #expect(response.status == 413, "\(path)")
        #expect(String(decoding: response.body, as: UTF8.self).contains("longer than 4 bytes"))
        #expect(gateway.upstream.recorder.requests.isEmpty)
      }
      let form = try await gateway.send(
        Self.send("/upload", "a=1&b", type: "application/x-www-form-urlencoded"))
      #expect(form.status == 413)
      #expect(try await gateway.send(Self.send("/%75pload", "1")).status == 400)
      #expect(gateway.upstream.recorder.requests.isEmpty)
      #expect(try await gateway.send(Self.send("/upload", "1234")).status != 413)
      #expect(try await gateway.send(Self.send("/uploads", "12345")).status != 413)
      #expect(gateway.upstream.recorder.requests.count == 2)
    }
  }

  @Test("A request of an endpoint, and a refused request, have no route", arguments: ["enforce", "observe"])
  func endpoints(_ mode: String) async throws {
    let routes = """
        - { prefix: /authorized, body: 0, response_headers: { set: { X-Zone: z } } }
        - { prefix: /static, response_headers: { set: { X-Zone: z } } }
      """
    let policy = try Self.policy(routes, mode: mode)
    let snapshot = GatewaySnapshot(policy: policy, keyRing: KeyRing.ephemeral(now: 1_700_000_000))
    let find = try #require(snapshot.passingRoutes?.find)
    for endpoint in Endpoint.allCases {
      for path in endpoint.row.paths(policy) {
        guard case .none = find(path.utf8.span) else {
          Issue.record("\(path) has a route")
          continue
        }
      }
    }
    try await Self.gateway(routes, mode: mode) { gateway in
      let passed = try await gateway.get("/static/a")
      #expect(passed.headers["X-Zone"] == "z")
      let own = [try await gateway.get("/.proofgate/x"), try await gateway.post("/token", ["grant_type": "x"])]
      #expect(own.allSatisfy { !$0.headers.contains("X-Zone") })
      if mode == "enforce" {
        // The path resembles an endpoint and is refused before its route counts.
        let refused = try await gateway.post("/authorized", ["a": "b"])
        #expect(refused.status == 400)
        #expect(gateway.upstream.recorder.requests(to: "/authorized").isEmpty)
      }
    }
  }

  @Test("The header fields of a route reach the server, and those that it removes do not")
  func requestFields() async throws {
    let routes = "  - { prefix: /zone, request_headers: { set: { X-Zone: z }, remove: [X-Debug] } }"
    try await Self.gateway(routes) { gateway in
      for path in ["/zone", "/zone/a?b=c", "/zones"] {
        let headers: Headers = ["x-zone": "client", "X-Debug": "1", "X-Other": "2"]
        _ = try await gateway.send(Request(method: "GET", target: path, headers: headers))
        let request = try #require(gateway.upstream.recorder.requests.last)
        let isOfRoute = path != "/zones"
        #expect(request.headers.all("X-Zone") == [isOfRoute ? "z" : "client"], "\(path)")
        #expect(request.headers["X-Debug"] == (isOfRoute ? nil : "1"))
        #expect(request.headers["X-Other"] == "2")
      }
    }
  }

  @Test("The timeouts of a route end its requests, and no others")
  func timeouts() async throws {
    let routes = """
        - { prefix: /response, response_timeout: 200ms }
        - { prefix: /request, request_timeout: 1s }
        - { prefix: /body, body_timeout: 200ms }
      """
    try await Self.gateway(routes) { gateway in
      let gate = Gate()
      gateway.upstream.script { _ in
        await gate.pass()
        return Response(status: 200)
      }
      async let other = gateway.get("/other")
      let part =
        "POST /body HTTP/1.1\r\nHost: \(gateway.front.authority)\r\n"
        // The gateway inspects bodies without a type.
        + "Content-Type: image/png\r\nContent-Length: 9\r\n\r\npart"
      let response = try await gateway.get("/response")
      #expect(response.status == 504)
      let request = try await gateway.get("/request")
      #expect(request.status == 504)
      let body = try await ClientLoop.sendRaw(Array(part.utf8), toPort: gateway.port)
      #expect(body.starts(with: "HTTP/1.1 408 ".utf8))
      let notices = try await gateway.notices(3)
      for (path, limit) in [
        ("/response", "response_timeout"), ("/request", "request_timeout"), ("/body", "body_timeout"),
      ] {
        #expect(notices.contains { $0.contains(" \(path) ") && $0.contains("(`\(limit)`)") }, "\(notices)")
      }
      await gate.open()
      #expect(try await other.status == 200)
    }
  }

  @Test("Each limit of a route reaches the proxy, and none by default")
  func limits() throws {
    let policy = try Self.policy(
      """
        - { prefix: /a, body: 7, request_buffer: 2KiB, request_timeout: 11s, body_timeout: 12s, response_timeout: 13s }
        - { prefix: /b, tunnel_timeout: 14s }
        - { prefix: /c, request_buffer: off }
      """)
    let snapshot = GatewaySnapshot(policy: policy, keyRing: KeyRing.ephemeral(now: 1_700_000_000))
    let routes = try #require(snapshot.passingRoutes?.routes)
    #expect(routes.map(\.bodyLimit) == [7, nil, nil])
    #expect(routes.map(\.requestBuffer) == [2_048, nil, 0])
    #expect(routes.map(\.requestTimeout) == [11_000, nil, nil])
    #expect(routes.map(\.bodyTimeout) == [12_000, nil, nil])
    #expect(routes.map(\.responseTimeout) == [13_000, nil, nil])
    #expect(routes.map(\.tunnelTimeout) == [nil, 14_000, nil])
  }

  @Test("A route cannot make a form that the gateway has not inspected pass as an OAuth request")
  func forms() {
    for text in ["Content-Type: application/x-www-form-urlencoded", "X-HTTP-Method-Override: POST"] {
      let name = text.prefix { $0 != ":" }
      let route = "  - { prefix: /a, request_headers: { set: { \(name): x } } }"
      #expect(throws: FixturePolicy.Unreadable.self) { try Self.policy(route) }
    }
  }
}
