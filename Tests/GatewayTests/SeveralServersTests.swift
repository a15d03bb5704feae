import Demo
import GatewayTestSupport
import HTTP
import JSON
import LegacyServer
import OAuth
import Policy
import Sealing
import Synchronization
import Testing

@Suite("Several servers of the upstream")
struct SeveralServersTests {
  /// Runs `body` with a gateway in front of two servers, each of which knows only its own sessions, codes and tokens.
  private static func withTwo(
    _ affinity: AddressAffinity, _ body: (GatewayFixture, FixtureUpstream) async throws -> Void
  ) async throws {
    try await withTwo({ try policy(affinity, $0) }, body)
  }

  private static func policy(
    _ affinity: AddressAffinity, _ other: Int, _ adjust: (inout FixturePolicy) -> Void = { _ in }
  ) throws -> Policy {
    try FixturePolicy.with {
      $0.upstream.otherServers = [.origin(Origin(scheme: .http, host: "127.0.0.1", port: other))]
      $0.upstream.affinity = affinity
      adjust(&$0)
    }
  }

  /// - Parameter makePolicy: Returns the policy for the port of the second server.
  private static func withTwo(
    _ makePolicy: (Int) throws -> Policy, _ body: (GatewayFixture, FixtureUpstream) async throws -> Void
  ) async throws {
    let other = try await FixtureUpstream()
    do {
      try await GatewayFixture.run(try makePolicy(other.port)) { gateway in
        other.serve(gateway.legacyServer(LegacyQuirks()))
        try await body(gateway, other)
      }
    } catch {
      await other.stop()
      throw error
    }
    await other.stop()
  }

  private static func refreshForm(_ token: String) -> Form {
    ["grant_type": "refresh_token", "refresh_token": token, "client_id": "n1"]
  }

  @Test(
    "A sign-in, its code and its refresh tokens stay at one server, which alone knows them",
    arguments: [AddressAffinity.cookie(LegacyAuthorizationServer.sessionCookie), .clientAddress])
  func flows(_ affinity: AddressAffinity) async throws {
    try await Self.withTwo(affinity) { gateway, other in
      for _ in 0..<4 {
        let code = try await gateway.code()
        let response = try await gateway.redeem(code)
        #expect(response.status == 200)
        var token = try #require(NativeApp.tokens(in: response)?.refreshToken).reveal()
        for _ in 0..<2 {
          let refreshed = try await gateway.post("/token", Self.refreshForm(token))
          #expect(refreshed.status == 200)
          token = try #require(NativeApp.tokens(in: refreshed)?.refreshToken).reveal()
        }
      }
      let counts = [gateway.upstream, other].map { $0.recorder.requests(to: "/token").count }
      #expect(counts.reduce(0, +) == 12)
      // All clients of this test have one address.
      if affinity == .clientAddress { #expect(counts.contains(0)) }
    }
  }

  @Test("The state of a sign-in that is the first request of the process names the server")
  func firstSignIn() async throws {
    try await Self.withTwo(.cookie(LegacyAuthorizationServer.sessionCookie)) { gateway, _ in
      let begun = try await gateway.begin()
      #expect(try gateway.transaction(of: begun).binding.client.upstreamAddress != nil)
    }
  }

  @Test("The state, the code and the refresh token name the server, and with one server they do not")
  func sealedIDs() async throws {
    try await Self.withTwo(.cookie(LegacyAuthorizationServer.sessionCookie)) { gateway, _ in
      let code = try await gateway.code()
      let opened = try gateway.sealer.open(IssuedCode.self, from: code)
      let id = try #require(opened.binding.client.upstreamAddress)
      let token = try #require(NativeApp.tokens(in: try await gateway.redeem(code))?.refreshToken).reveal()
      #expect(try gateway.sealer.open(RefreshGrant.self, from: token).binding.upstreamAddress == id)
    }
    try await GatewayFixture.run { gateway in
      let opened = try gateway.sealer.open(IssuedCode.self, from: try await gateway.code())
      #expect(opened.binding.client.upstreamAddress == nil)
    }
  }

  // MARK: Requests without a session

  /// Runs `body`, and returns the index of the one server that has received requests to `path` meanwhile.
  private static func server(
    of path: String, _ servers: [FixtureUpstream], _ body: () async throws -> Void
  ) async throws -> Int {
    let before = servers.map { $0.recorder.requests(to: path).count }
    try await body()
    let used = servers.indices.filter { servers[$0].recorder.requests(to: path).count > before[$0] }
    return try #require(used.count == 1 ? used.first : nil, "\(used.count) servers got \(path)")
  }

  private static func poll(_ deviceCode: String) -> Form {
    [
      "grant_type": "urn:ietf:params:oauth:grant-type:device_code", "device_code": deviceCode, "client_id": "tv1",
    ]
  }

  /// Signs a user in at a server itself, where the user approves the device.
  private static func approve(_ userCode: String, at server: FixtureUpstream) async throws {
    func post(_ path: String, _ form: Form, _ headers: Headers = Headers()) async throws -> Response {
      var headers = headers
      headers.append("Content-Type", "application/x-www-form-urlencoded")
      let body = Array(form.encoded.utf8)
      return try await ClientLoop.send(
        server.address, Request(method: "POST", target: path, headers: headers, body: body))
    }
    let user = DemoUser()
    let login = try await post("/login", ["username": user.name, "password": user.password])
    let session = try #require(login.headers["Set-Cookie"]).prefix { $0 != ";" }
    let page = try await post(
      "/activate", ["user_code": userCode, "confirm": "yes"], ["Cookie": String(session)])
    #expect(page.text.contains("Return to your device"))
  }

  @Test("The polls and refreshes of a device go to the server that issued its device code")
  func device() async throws {
    let path = "/oauth/device"
    let makePolicy = { other in
      try Self.policy(.none, other) { $0.upstream.endpoints.deviceAuthorization = [path] }
    }
    // Requests without an id of an address alternate between the servers.
    try await Self.withTwo(makePolicy) { gateway, other in
      let servers = [gateway.upstream, other]
      for _ in 0..<3 {
        var members: [String: JSONValue] = [:]
        let issuer = try await Self.server(of: path, servers) {
          let response = try await gateway.post(path, ["client_id": "tv1"])
          members = try #require(JSONValue.members(of: response.body), "\(response.text)")
        }
        let codes = ["device_code", "user_code"].compactMap { members[$0]?.text }
        try #require(codes.count == 2)
        for _ in 0..<2 {
          let poll = try await Self.server(of: "/token", servers) {
            try await gateway.post("/token", Self.poll(codes[0])).expectTokenError(400, "authorization_pending")
          }
          #expect(poll == issuer)
        }
        try await Self.approve(codes[1], at: servers[issuer])
        var token = ""
        let redemption = try await Self.server(of: "/token", servers) {
          let tokens = try await gateway.post("/token", Self.poll(codes[0]))
          token = try #require(NativeApp.tokens(in: tokens)?.refreshToken, "\(tokens.text)").reveal()
        }
        #expect(redemption == issuer)
        for _ in 0..<2 {
          let refresh = try await Self.server(of: "/token", servers) {
            var form = Self.refreshForm(token)
            form.set("client_id", "tv1")
            let refreshed = try await gateway.post("/token", form)
            token = try #require(NativeApp.tokens(in: refreshed)?.refreshToken, "\(refreshed.text)").reveal()
          }
          #expect(refresh == issuer)
        }
      }
    }
  }

  @Test("The revocation of a refresh token goes to the server that issued it")
  func revocation() async throws {
    try await Self.withTwo(.cookie(LegacyAuthorizationServer.sessionCookie)) { gateway, other in
      let servers = [gateway.upstream, other]
      var tokens: [(server: Int, token: String)] = []
      for _ in 0..<4 {
        let code = try await gateway.code()
        var token = ""
        let issuer = try await Self.server(of: "/token", servers) {
          token = try #require(NativeApp.tokens(in: try await gateway.redeem(code))?.refreshToken).reveal()
        }
        tokens.append((issuer, token))
      }
      // In this order, the servers of the tokens do not alternate as those of requests without an address would.
      for (issuer, token) in tokens.sorted(by: { $0.server < $1.server }) {
        let revocation = try await Self.server(of: "/revoke", servers) {
          let response = try await gateway.post("/revoke", ["token": token, "client_id": "n1"])
          #expect(response.status == 200)
        }
        #expect(revocation == issuer)
      }
    }
  }

  // MARK: Health checks

  /// Reads ten pages, and returns the number of those that each server has sent.
  private static func pages(_ gateway: GatewayFixture, _ other: FixtureUpstream) async throws -> [Int] {
    let servers = [gateway.upstream, other]
    let before = servers.map { $0.recorder.requests(to: "/page").count }
    for _ in 0..<10 { _ = try await gateway.get("/page") }
    return servers.indices.map { servers[$0].recorder.requests(to: "/page").count - before[$0] }
  }

  @Test("A server that fails the health check of the policy gets no requests until it passes the check again")
  func healthCheck() async throws {
    let makePolicy: (Int) throws -> Policy = { other in
      try FixturePolicy.yaml(
        """
        version: 1
        gateway:
          origin: http://127.0.0.1:8080
          listeners: [{ address: 127.0.0.1:0 }]
          sealing_keys: { file: KEYS }
          admin: off
        upstream:
          urls: [http://127.0.0.1:9000, http://127.0.0.1:\(other)]
          affinity: none
          health_check: { path: /health, interval: 1s, timeout: 900ms, statuses: 204, failures: 2, successes: 1 }
          pass: [/]
          endpoints: { authorization: /authorize, token: /token }
        enforcement: { raw_refresh_until: never }
        clients:
          - { id: n1, type: public, application: native, redirect_uris: ["com.example.app:/cb"], upstream: { client_id: u1 } }

        """)
    }
    try await Self.withTwo(makePolicy) { gateway, other in
      let isHealthy = Mutex(false)
      gateway.upstream.script { request in request.path == "/health" ? Response(status: 204) : nil }
      other.script { request in
        guard request.path == "/health" else { return nil }
        return Response(status: isHealthy.withLock { $0 } ? 204 : 200)
      }
      let out = try await gateway.notices(1)
      #expect(out.first?.contains("127.0.0.1:\(other.port) fails its health check (status 200)") == true, "\(out)")
      #expect(try await Self.pages(gateway, other) == [10, 0])
      isHealthy.withLock { $0 = true }
      let back = try await gateway.notices(2)
      #expect(back.last?.contains("127.0.0.1:\(other.port) passes its health check again") == true, "\(back)")
      #expect(try await Self.pages(gateway, other) == [5, 5])
    }
  }
}
