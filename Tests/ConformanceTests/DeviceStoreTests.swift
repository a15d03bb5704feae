import Demo
import DiskStore
import Foundation
import GatewayTestSupport
import HTTP
import LegacyServer
import Policy
import Reactor
import RedisStore
import RedisTestSupport
import Sealing
import Stores
import Testing
import Time

/// Device flows whose steps reach several gateways with one store, or a gateway that has started again.
@Suite("Device flows across gateways")
struct DeviceStoreTests {
  /// Starts a flow at the first gateway, confirms it at the second, and polls at both.
  private func runFlow(_ first: GatewayFixture, _ second: GatewayFixture) async throws {
    let started = try await first.startDevice()
    try await second.poll(started).expectTokenError(400, "authorization_pending")
    var browser = second.browser()
    let page = try await second.confirmation(of: started, in: &browser)
    var other = first.browser()
    let inUse = try await first.enter(started.userCode, in: &other)
    #expect(inUse.status == 409)
    first.clock.advance(by: 6)
    try await first.poll(started).expectTokenError(400, "authorization_pending")
    let decided = try await second.decide("approve", on: page, in: &browser)
    #expect(decided.status == 200, "\(decided.text)")
    let tokens = try await first.poll(started)
    #expect(tokens.status == 200, "\(tokens.text)")
    let repeated = try await second.poll(started)
    #expect(repeated.text == tokens.text)
    try await expectStatus(200, of: second.refresh(tokens.refreshToken(), "tv1"))
    try await first.expectTokenRefusal(first.pollForm(started.deviceCode), "invalid_grant")
    #expect(first.upstreamTokenForms.filter { $0["grant_type"] == "authorization_code" }.count == 1)
  }

  @Test(
    "8628-3.5-success-once: a flow that starts at one gateway is confirmed at another and ends at the first, with Redis"
  )
  func redis() async throws {
    var settings = try RedisProcess.shared.get().settings
    settings.keyPrefix = "device-\(UInt64.random(in: 0...UInt64.max)):"
    let (one, two) = (RedisStore(settings), RedisStore(settings))
    let startOne: GatewayFixture.StartStore = { one.start(on: $0) }
    let startTwo: GatewayFixture.StartStore = { two.start(on: $0) }
    try await GatewayFixture.run(store: one, startStore: startOne) { first in
      try await first.withReplica(store: two, startStore: startTwo) { second in
        for store in [one, two] {
          let isConnected = try await StoreOnWorkers.poll { store.activity?.outage == nil }
          try #require(isConnected)
        }
        try await runFlow(first, second)
        await two.stop()
      }
      await one.stop()
    }
  }

  @Test("8628-3.5-success-once: two gateways of one process share the flows of a store in a file")
  func file() async throws {
    try await Self.withFile { path in
      let store = try FileStore(path: path)
      try await GatewayFixture.run(store: store) { first in
        try await first.withReplica(sharesStore: true) { second in try await runFlow(first, second) }
      }
      try await Self.close(store)
    }
  }

  @Test("A device that started its flow in front of a restart gets its tokens after it, with a store in a file")
  func restart() async throws {
    let keyRing = KeyRing.ephemeral(now: SystemClock.unixTime())
    try await Self.withFile { path in
      var store = try FileStore(path: path)
      var started: StartedDevice?
      try await GatewayFixture.run(keyRing: keyRing, store: store) { gateway in
        started = try await gateway.startDevice()
      }
      try await Self.close(store)
      store = try FileStore(path: path)
      let flow = try #require(started)
      try await GatewayFixture.run(keyRing: keyRing, store: store) { gateway in
        try await gateway.poll(flow).expectTokenError(400, "authorization_pending")
        var browser = gateway.browser()
        let page = try await gateway.confirmation(of: flow, in: &browser)
        _ = try await gateway.decide("approve", on: page, in: &browser)
        try await expectStatus(200, of: gateway.poll(flow))
      }
      try await Self.close(store)
    }
  }

  private static func withFile(_ body: (String) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("proofgate-device-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try await body(folder.appendingPathComponent("state.db").path)
  }

  private static func close(_ store: FileStore) async throws {
    store.close()
    let isClosed = try await StoreOnWorkers.poll { store.isClosed }
    #expect(isClosed)
  }
}
