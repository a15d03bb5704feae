import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Testing

@Suite("Scripts of other origins")
struct CrossOriginTests {
  private static func policy(_ adjust: (inout FixturePolicy) -> Void = { _ in }) throws -> Policy {
    try FixturePolicy.with { policy in
      policy.gateway.corsOrigins = [
        ScriptOrigin(Origin(scheme: .https, host: "app.example.com")),
        ScriptOrigin(Origin(scheme: .https, host: "other.example.com")),
      ]
      adjust(&policy)
    }
  }

  private static func names(_ response: Response) -> [String] {
    response.headers.fields.map { $0.name.lowercased() }.filter { $0.hasPrefix("access-control-") }
  }

  @Test("A script may read the response to its client's request only if its origin is listed and the client's own")
  func tokenEndpoint() async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      let allowed = try await gateway.redeem("x", headers: ["Origin": "https://app.example.com"])
      #expect(allowed.headers["Access-Control-Allow-Origin"] == "https://app.example.com")
      #expect(!allowed.headers.contains("Access-Control-Allow-Credentials"))
      #expect(allowed.headers["Vary"] == "Origin")
      for origin in ["https://other.example.com", "https://x.example", "https://app.example.co", "null"] {
        let response = try await gateway.redeem("x", headers: ["Origin": origin])
        #expect(Self.names(response).isEmpty, "\(origin)")
      }
      let otherClient = try await gateway.redeem("x", "n2", headers: ["Origin": "https://app.example.com"])
      #expect(Self.names(otherClient).isEmpty)
      await gateway.reload { $0.gateway.corsOrigins = [] }
      let unlisted = try await gateway.redeem("x", headers: ["Origin": "https://app.example.com"])
      #expect(Self.names(unlisted).isEmpty)
    }
  }

  @Test(
    "A script in the web view of a native app may read its response if the origin of the web view is listed",
    arguments: ["capacitor://localhost", "https://localhost", "http://tauri.localhost", "chrome-extension://abcdefgh"])
  func webView(origin: String) async throws {
    let host = String(origin.drop { $0 != "/" }.dropFirst(2))
    let web = Origin(scheme: origin.hasPrefix("https") ? .https : .http, host: host)
    let listed = ScriptOrigin(ofApp: origin) ?? ScriptOrigin(web)
    try await GatewayFixture.run(try Self.policy { $0.gateway.corsOrigins = [listed] }) { gateway in
      let allowed = try await gateway.redeem("x", headers: ["Origin": origin])
      #expect(allowed.headers["Access-Control-Allow-Origin"] == origin)
      for other in ["\(origin):8080", "ionic://localhost", "https://localhost.example.com"] {
        let response = try await gateway.redeem("x", headers: ["Origin": other])
        #expect(Self.names(response).isEmpty, "\(other)")
      }
      let other = try await gateway.redeem("x", "w1", headers: ["Origin": origin])
      #expect(Self.names(other).isEmpty)
    }
  }

  @Test("I-observe: while a client is observed, the server answers a preflight request of an origin that is not listed")
  func observedPreflight() async throws {
    let fields: Headers = [
      "Access-Control-Allow-Origin": "https://spa.example", "Access-Control-Allow-Headers": "x-spa",
    ]
    func preflight(_ gateway: GatewayFixture, _ target: String, method: String = "POST") async throws -> Response {
      gateway.upstream.script { $0.method == "OPTIONS" ? Response(status: 204, headers: fields) : nil }
      return try await gateway.send(
        Request(
          method: "OPTIONS", target: target,
          headers: ["Origin": "https://spa.example", "Access-Control-Request-Method": method]))
    }
    try await GatewayFixture.run(try Self.policy { $0.edit("n2") { $0.enforcement.mode = .observe } }) { gateway in
      for target in ["/token", "/revoke"] {
        let response = try await preflight(gateway, target)
        #expect(response.status == 204)
        #expect(response.headers["Access-Control-Allow-Headers"] == "x-spa")
        #expect(gateway.upstream.recorder.requests(to: target).last?.method == "OPTIONS")
        let withQuery = try await preflight(gateway, target + "?grant_type=x")
        #expect(withQuery.status == 405)
      }
      let authorization = try await preflight(gateway, "/authorize")
      #expect(authorization.status == 405)
    }
    try await GatewayFixture.run(try Self.policy()) { gateway in
      let enforced = try await preflight(gateway, "/token")
      #expect(enforced.status == 405)
    }
  }

  @Test("A preflight request of a listed origin is answered at the token endpoint, and never at the authorization one")
  func preflight() async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      func preflight(_ path: String, _ origin: String) async throws -> Response {
        try await gateway.expectRefused(
          Request(
            method: "OPTIONS", target: path,
            headers: ["Origin": origin, "Access-Control-Request-Method": "POST"]), status: nil)
      }
      for path in ["/token", "/revoke", "/device_authorization"] {
        let response = try await gateway.send(
          Request(
            method: "OPTIONS", target: path,
            headers: ["Origin": "https://app.example.com", "Access-Control-Request-Method": "POST"]))
        #expect(response.status == 204)
        #expect(response.headers["Access-Control-Allow-Origin"] == "https://app.example.com")
        #expect(!response.headers.contains("Access-Control-Allow-Credentials"))
        #expect(Self.names(try await preflight(path, "https://x.example")).isEmpty)
      }
      #expect(Self.names(try await preflight("/authorize", "https://app.example.com")).isEmpty)
    }
  }

  @Test(
    "A script may start a device flow only if its origin is that of its client, at the gateway and at the upstream",
    arguments: [true, false])
  func deviceAuthorization(atUpstream: Bool) async throws {
    let policy = try Self.policy { policy in
      if atUpstream { policy.upstream.endpoints.deviceAuthorization = ["/device_authorization"] }
      for id in ["n1", "n2"] { policy.edit(id) { $0.grants.insert(.deviceCode) } }
    }
    try await GatewayFixture.run(policy) { gateway in
      if atUpstream {
        gateway.upstream.script { _ in
          Response(
            status: 200,
            headers: ["Access-Control-Allow-Origin": "*", "Access-Control-Allow-Credentials": "true"],
            body: Array(
              #"{"device_code":"d","user_code":"U","verification_uri":"https://gw.example/d","expires_in":60}"#.utf8))
        }
      }
      func start(_ client: String, from origin: String) async throws -> Response {
        let response = try await gateway.post("/device_authorization", ["client_id": client], ["Origin": origin])
        #expect(response.status == 200, "\(response.text)")
        return response
      }
      let listed = "https://app.example.com"
      let allowed = try await start("n1", from: listed)
      #expect(allowed.headers["Access-Control-Allow-Origin"] == listed)
      #expect(!allowed.headers.contains("Access-Control-Allow-Credentials"))
      #expect(Self.names(try await start("n2", from: listed)).isEmpty)
      #expect(Self.names(try await start("n1", from: "https://other.example.com")).isEmpty)
    }
  }

  @Test("The upstream's CORS fields are removed for enforced clients, and kept for observed ones")
  func upstreamFields() async throws {
    try await GatewayFixture.run(try Self.policy { $0.edit("w3") { $0.mode = .observe } }) { gateway in
      gateway.upstream.script { _ in
        Response(
          status: 200, headers: ["Access-Control-Allow-Origin": "*", "Access-Control-Allow-Credentials": "true"])
      }
      let enforced = try await gateway.post("/introspect", ["token": "t", "client_id": "n1"])
      #expect(Self.names(enforced).isEmpty)
      for path in ["/introspect", "/revoke"] {
        let nameless = try await gateway.post(path, ["token": "t"], ["Origin": "https://app.example.com"])
        #expect(nameless.status == 200)
        #expect(Self.names(nameless).isEmpty, "\(path)")
      }
      let observed = try await gateway.post("/introspect", ["token": "t", "client_id": "w3"])
      #expect(observed.headers["Access-Control-Allow-Origin"] == "*")
    }
  }

  @Test("I-observe: while no client is enforced, a preflight request reaches the upstream")
  func observed() async throws {
    try await GatewayFixture.run(try Self.policy { policy in policy.editAll { $0.mode = .observe } }) { gateway in
      gateway.upstream.script { _ in Response(status: 204, headers: ["Access-Control-Allow-Origin": "*"]) }
      let response = try await gateway.send(
        Request(
          method: "OPTIONS", target: "/token",
          headers: ["Origin": "https://app.example.com", "Access-Control-Request-Method": "POST"]))
      #expect(response.headers["Access-Control-Allow-Origin"] == "*")
    }
  }
}
