import Demo
import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Stores
import Testing
import Time

/// Requests that come while another request redeems the same code or refresh token.
@Suite("A request during another one with the same code or refresh token")
struct RequestInProgressTests {
  /// The default of `refresh_reuse_window`.
  private static func policy() throws -> Policy {
    try FixturePolicy.with { $0.editAll { $0.refreshReuseWindow = nil } }
  }

  /// Sends `request` twice: the second time while the first one waits for the upstream, which responds when the second
  /// one has found the claim of the first.
  ///
  /// - Parameters:
  ///   - kind: the kind of entry that the request claims in the gateway's store, which is `store`.
  ///   - answer: the response of the upstream to the first request; `nil` for its own one.
  private func twice(
    _ gateway: GatewayFixture, _ store: SpyStore, claiming kind: StoreKind, upstream answer: Response? = nil,
    _ request: @escaping @Sendable () async throws -> Response
  ) async throws -> (first: Response, second: Response) {
    let gate = Gate()
    gateway.upstream.script { request in
      guard request.path == "/token" else { return nil }
      await gate.pass()
      return answer
    }
    async let first = request()
    await gate.someoneWaits()
    // The script applies to the first request only.
    gateway.upstream.script(nil)
    let before = store.operationCount(kind)
    async let second = request()
    for _ in 0..<60_000 where store.operationCount(kind) == before { try await Task.sleep(for: .milliseconds(1)) }
    await gate.open()
    return try await (first, second)
  }

  @Test("Two refreshes of a native app at the same time are one upstream request with one response")
  func refresh() async throws {
    let store = SpyStore()
    try await GatewayFixture.run(try Self.policy(), store: store) { gateway in
      let token = try await gateway.tokens().refresh()
      let before = gateway.upstreamTokenForms.count
      let (first, second) = try await twice(gateway, store, claiming: .family) { try await gateway.refresh(token) }
      #expect(first.status == 200)
      #expect(second.status == 200)
      // `expires_in` may be smaller in the second one.
      #expect(try first.refreshToken() == second.refreshToken())
      #expect(gateway.upstreamTokenForms.count == before + 1)
    }
  }

  @Test("If the first of two refreshes fails at the upstream, the second one is sent")
  func failedRefresh() async throws {
    let store = SpyStore()
    try await GatewayFixture.run(try Self.policy(), store: store) { gateway in
      let token = try await gateway.tokens().refresh()
      let (first, second) = try await twice(gateway, store, claiming: .family, upstream: Response(status: 503)) {
        try await gateway.refresh(token)
      }
      #expect(first.status == 503)
      #expect(second.status == 200)
    }
  }

  @Test("Of two redemptions at the same time one succeeds, and the other one does not end its tokens")
  func redemption() async throws {
    let store = SpyStore()
    try await GatewayFixture.run(store: store) { gateway in
      let code = try await gateway.code()
      let before = gateway.upstreamTokenForms.count
      let (first, second) = try await twice(gateway, store, claiming: .claim) { try await gateway.redeem(code) }
      second.expectTokenError(400, "invalid_grant")
      #expect(gateway.upstreamTokenForms.count == before + 1)
      #expect(gateway.upstream.recorder.requests(to: "/revoke").isEmpty)
      #expect(try await gateway.refresh(try first.refreshToken()).status == 200)
    }
  }

  @Test("If the first of two redemptions fails at the upstream, the second one succeeds")
  func failedRedemption() async throws {
    let store = SpyStore()
    try await GatewayFixture.run(store: store) { gateway in
      let code = try await gateway.code()
      let (first, second) = try await twice(gateway, store, claiming: .claim, upstream: Response(status: 503)) {
        try await gateway.redeem(code)
      }
      #expect(first.status == 503)
      #expect(second.status == 200)
    }
  }
}
