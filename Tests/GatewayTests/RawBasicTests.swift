import ByteText
import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Testing

/// HTTP Basic without form encoding (RFC 7617), towards the server and from clients.
@Suite("Basic without form encoding")
struct RawBasicTests {
  private static let secret = "z/tZ9VwF+ZH1I5pLk/uB4udX2%/8bL+wfFTt1rFw="

  private static func raw(_ user: String, _ secret: String) -> Headers {
    ["Authorization": "Basic " + Base64.encode(Array("\(user):\(secret)".utf8))]
  }

  @Test("With `basic_raw`, the server gets id and secret as they are")
  func upstream() async throws {
    let policy = try FixturePolicy.with { policy in
      policy.edit("w1") { client in
        client.upstream.clientSecret = Secret(Self.secret)
        client.upstream.authentication = .basicRaw
      }
    }
    try await GatewayFixture.run(policy) { gateway in
      let code = try await gateway.code("w1")
      let before = gateway.upstream.recorder.count
      _ = try await gateway.redeem(code, "w1") { $0.append("client_secret", "w1secret") }
      let sent = try #require(gateway.upstream.recorder.requests.dropFirst(before).last { $0.path == "/token" })
      #expect(sent.headers["Authorization"] == Self.raw("legacy-w1", Self.secret)["Authorization"])
      #expect(!String(decoding: sent.body, as: UTF8.self).contains("client_secret"))
    }
  }

  @Test("A client may send its secret with and without form encoding, and a wrong one in neither form")
  func downstream() async throws {
    let secrets = [Self.secret, "a+b/c=", "100%", "a%2Bb"]
    for secret in secrets {
      let policy = try FixturePolicy.with { $0.edit("w1") { $0.secret = Secret(secret) } }
      try await GatewayFixture.run(policy) { gateway in
        let encoded: Headers = ["Authorization": BasicCredentials(user: "w1", password: Secret(secret)).header.reveal()]
        for headers in [encoded, Self.raw("w1", secret)] {
          let code = try await gateway.code("w1")
          let response = try await gateway.redeem(code, "w1", headers: headers) { $0.remove("client_id") }
          #expect(response.status == 200, "\(secret) \(response.text)")
        }
        let code = try await gateway.code("w1")
        for wrong in [secret + "x", secret + "%", "+" + secret] {
          let response = try await gateway.redeem(code, "w1", headers: Self.raw("w1", wrong)) { $0.remove("client_id") }
          #expect(response.status == 401 || response.status == 400, "\(response.text)")
        }
      }
    }
  }

  @Test("A secret with two readings is one guess for the limit of failed attempts")
  func guesses() async throws {
    func guessesUntilThrottled(_ guess: (Int) -> Headers) async throws -> Int {
      var count = 0
      try await GatewayFixture.run { gateway in
        let form = gateway.tokenForm("x", "w1") { $0.remove("client_id") }
        while count < 100, try await gateway.post("/token", form, guess(count)).status != 429 { count += 1 }
      }
      return count
    }
    let plain = try await guessesUntilThrottled { Self.raw("w1", "guess\($0)") }
    let twofold = try await guessesUntilThrottled { Self.raw("w1", "guess+\($0)") }
    #expect(plain > 1 && plain < 100 && plain == twofold)
  }
}
