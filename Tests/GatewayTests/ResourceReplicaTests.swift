import Demo
import DiskStore
import Foundation
import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import RedisStore
import RedisTestSupport
import Stores
import Testing
import Time

/// Access tokens that one gateway has recorded, at another one.
@Suite("Resources with a store that outlives a gateway", .serialized)
struct ResourceReplicaTests {
  private static let mail = "https://mail.example.com/"
  private static let inactive = #"{"active":false}"#

  private static func policy() throws -> Policy {
    var resource = ResourceSettings(uri: try #require(ResourceURI(parsing: mail)))
    resource.introspection = ResourceServer(id: "mail", secret: Secret("mail-secret"))
    resource.check = SocketAddress(host: "127.0.0.1", port: 0)
    return try FixturePolicy.with { policy in
      policy.resources = [resource]
      policy.upstream.endpoints.introspection = []
      policy.editAll { $0.refreshReuseWindow = 30 }
    }
  }

  private static func tokens(_ gateway: GatewayFixture) async throws -> (access: String, refresh: String) {
    let code = try await gateway.code { $0.append("resource", mail) }
    let answer = try await gateway.redeem(code)
    let tokens = try #require(NativeApp.tokens(in: answer), "\(answer.text)")
    return (tokens.accessToken.reveal(), try #require(tokens.refreshToken).reveal())
  }

  private static func introspect(_ gateway: GatewayFixture, _ token: String) async throws -> String {
    try await gateway.post(
      "/.proofgate/introspect", ["token": token, "client_id": "mail", "client_secret": "mail-secret"]
    ).text
  }

  private static func check(_ gateway: GatewayFixture, _ token: String) async throws -> Int {
    let port = try #require(gateway.checkPorts.first)
    let headers: Headers = ["Host": "127.0.0.1:\(port)", "Authorization": "Bearer \(token)"]
    return try await ClientLoop.send(
      WebAddress(host: "127.0.0.1", port: port), Request(method: "GET", target: "/", headers: headers)
    ).status
  }

  /// Runs two gateways that share a Redis server.
  private static func runTwo(_ use: @escaping (GatewayFixture, GatewayFixture) async throws -> Void) async throws {
    var settings = try RedisProcess.shared.get().settings
    settings.keyPrefix = "test-\(UInt64.random(in: 0...UInt64.max)):"
    let (first, second) = (RedisStore(settings), RedisStore(settings))
    let (startFirst, startSecond) = (start(first), start(second))
    try await GatewayFixture.run(try policy(), store: first, startStore: startFirst) { gateway in
      try await gateway.withReplica(store: second, startStore: startSecond) { other in
        let result: Result<Void, any Error>
        do {
          for store in [first, second] {
            let isConnected = try await StoreOnWorkers.poll { store.activity?.outage == nil }
            try #require(isConnected)
          }
          result = .success(try await use(gateway, other))
        } catch {
          result = .failure(error)
        }
        // While their workers run.
        await second.stop()
        await first.stop()
        try result.get()
      }
    }
  }

  private static func start(_ store: RedisStore) -> GatewayFixture.StartStore { { store.start(on: $0) } }

  @Test("A token that one gateway recorded in Redis is active at another one, until it is revoked at either")
  func redis() async throws {
    try await Self.runTwo(Self.use)
  }

  @Test("A token that two clients get at two gateways at once belongs to both, and ends with the login of either")
  func severalClients() async throws {
    try await Self.runTwo { gateway, other in
      var codes: [String: String] = [:]
      for client in ["n1", "n2"] {
        codes[client] = try await gateway.code(client) { $0.append("resource", Self.mail) }
      }
      gateway.upstream.script { request in
        if request.path == "/revoke" { return Response(status: 200) }
        guard request.path == "/token" else { return nil }
        let body = #"{"access_token":"same","token_type":"Bearer","expires_in":600,"refresh_token":"r"}"#
        return Response(status: 200, headers: ["Content-Type": "application/json"], body: Array(body.utf8))
      }
      async let one = gateway.redeem(try #require(codes["n1"]), "n1")
      async let two = other.redeem(try #require(codes["n2"]), "n2")
      let answers = (try await one, try await two)
      #expect(answers.0.status == 200 && answers.1.status == 200, "\(answers.0.text) \(answers.1.text)")
      for each in [gateway, other] {
        let answer = try await Self.introspect(each, "same")
        #expect(answer.contains(#""active":true"#) && !answer.contains("client_id"), "\(answer)")
      }
      let token = try #require(NativeApp.tokens(in: answers.1)?.refreshToken?.reveal())
      _ = try await gateway.post("/revoke", ["token": token, "client_id": "n2"])
      for each in [gateway, other] { #expect(try await Self.introspect(each, "same") == Self.inactive) }
    }
  }

  private static func use(_ gateway: GatewayFixture, _ other: GatewayFixture) async throws {
    let tokens = try await tokens(gateway)
    #expect(try await introspect(other, tokens.access).contains(#""active":true"#))
    #expect(try await check(other, tokens.access) == 200)
    // A refresh at the other gateway, and its repeat at the first one.
    let refresh: Form = ["grant_type": "refresh_token", "refresh_token": tokens.refresh, "client_id": "n1"]
    let refreshed = try #require(NativeApp.tokens(in: try await other.post("/token", refresh)))
    let repeated = try #require(NativeApp.tokens(in: try await gateway.post("/token", refresh)))
    #expect(repeated.accessToken.reveal() == refreshed.accessToken.reveal())
    #expect(try await introspect(gateway, refreshed.accessToken.reveal()).contains(#""active":true"#))
    _ = try await other.post("/revoke", ["token": tokens.access, "client_id": "n1"])
    #expect(try await introspect(gateway, tokens.access) == inactive)
    #expect(try await check(gateway, tokens.access) == 401)
    // The end of the login ends the tokens that it has issued.
    _ = try await gateway.post("/revoke", ["token": try #require(refreshed.refreshToken).reveal(), "client_id": "n1"])
    #expect(try await introspect(other, refreshed.accessToken.reveal()) == inactive)
  }

  @Test("A token that a gateway recorded in a file is active after a restart, and inactive if it was revoked before")
  func file() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("proofgate-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appendingPathComponent("state.db").path
    let before = try FileStore(path: path)
    try await GatewayFixture.run(try Self.policy(), store: before) { gateway in
      let (kept, revoked) = (try await Self.tokens(gateway), try await Self.tokens(gateway))
      _ = try await gateway.post("/revoke", ["token": revoked.access, "client_id": "n1"])
      before.close()
      for _ in 0..<6_000 where !before.isClosed { try await Task.sleep(for: .milliseconds(10)) }
      let after = try FileStore(path: path)
      try await gateway.withReplica(store: after) { restarted async throws in
        #expect(try await Self.introspect(restarted, kept.access).contains(#""active":true"#))
        #expect(try await Self.check(restarted, kept.access) == 200)
        #expect(try await Self.introspect(restarted, revoked.access) == Self.inactive)
      }
      after.close()
    }
  }
}
