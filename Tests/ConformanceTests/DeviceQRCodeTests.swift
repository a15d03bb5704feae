import Gateway
import GatewayTestSupport
import HTTP
import LegacyServer
import Markup
import Policy
import Stores
import Testing

/// The address of the device page as a QR code.
@Suite("QR codes of devices")
struct DeviceQRCodeTests {
  private static let path = "/.proofgate/qr"

  private func svg(_ text: String) throws -> String { try #require(QRCode(text)).svg.text }

  @Test("8628-3.3.1-complete: the image has the code only if complete addresses are permitted")
  func content() async throws {
    try await GatewayFixture.run { gateway async throws in
      let target = Self.path + "?user_code=WDJB-MJHT"
      let page = try await gateway.get(target)
      #expect(page.status == 200)
      #expect(page.headers["Content-Type"] == "image/svg+xml")
      #expect(page.headers["Cache-Control"] == "no-store")
      #expect(page.headers["Content-Security-Policy"]?.hasPrefix("default-src 'none'") == true)
      let short = try svg("https://gw.example/device")
      #expect(page.text == short)
      await gateway.reload { $0.edit("tv1") { $0.deviceCompleteURI = true } }
      let complete = try svg("https://gw.example/device?user_code=WDJB-MJHT")
      #expect(try await gateway.get(target).text == complete)
      #expect(try await gateway.get(Self.path + "?user_code=wdjb%20mjht").text == complete)
      // Any other text is left out.
      for other in ["", "?user_code=ABC", "?user_code=https://evil.example/", "?text=x"] {
        #expect(try await gateway.get(Self.path + other).text == short)
      }
    }
  }

  @Test("The image of a live code is that of any code, and reads nothing from the store")
  func noOracle() async throws {
    let policy = try FixturePolicy.with { $0.edit("tv1") { $0.deviceCompleteURI = true } }
    let store = SpyStore()
    try await GatewayFixture.run(policy, store: store) { gateway in
      let started = try await gateway.startDevice()
      for code in [started.userCode, "BCDF-GHJK"] {
        let expected = try svg("https://gw.example/device?user_code=\(code)")
        let image = try await gateway.get(Self.path + "?user_code=\(code)")
        #expect(image.text == expected)
        #expect(image.headers["Set-Cookie"] == nil)
      }
      #expect(store.operationCount(.userCode) == 1)
      try await gateway.poll(started).expectTokenError(400, "authorization_pending")
    }
  }

  @Test("Only GET and HEAD are answered, and only if the gateway runs device flows")
  func methods() async throws {
    try await GatewayFixture.run { gateway in
      try await gateway.expectRefused(post: Self.path, ["user_code": "WDJB-MJHT"], status: 405)
      await gateway.reload { $0.upstream.endpoints.deviceAuthorization = ["/oauth/device"] }
      try await gateway.expectRefused(get: Self.path, status: 404)
    }
  }
}
