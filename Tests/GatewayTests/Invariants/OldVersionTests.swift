import Demo
import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Testing
import Time

/// The time in which the old and the new version of an app are in use (`accept_old_version_until`), and the way back to
/// observe mode. The server requires the secret that the old version has.
@Suite("I-credentials: versions of an app")
struct OldVersionTests {
  /// A policy in which `w3`, which has its own id and secret at the server, is a public native app.
  private static func policy(
    until: UnixTime? = 1_000_000_000_000, _ edit: @escaping (inout ClientSettings) -> Void = { _ in }
  ) throws -> Policy {
    try FixturePolicy.with { policy in
      policy.edit("w3") { client in
        client.kind = .public
        client.application = .native
        client.pkce = .required
        client.acceptOldVersionUntil = until
        client.rawRefreshUntil = 1_000_000_000_000
        edit(&client)
      }
    }
  }

  private func refresh(_ gateway: GatewayFixture, _ token: String, secret: String? = nil) async throws -> Response {
    var form: Form = ["grant_type": "refresh_token", "refresh_token": token, "client_id": "w3"]
    if let secret { form.append("client_secret", secret) }
    return try await gateway.post("/token", form)
  }

  private static func withoutChallenge(_ form: inout Form) {
    form.remove("code_challenge")
    form.remove("code_challenge_method")
  }

  @Test("I-credentials: until the date, a sign-in without PKCE needs the app's own secret, and is a finding")
  func oldVersion() async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      let code = try await gateway.code("w3", adjusting: Self.withoutChallenge)
      let bare = try await gateway.redeem(code, "w3") { $0.remove("code_verifier") }
      bare.expectTokenError(401, "invalid_client")
      #expect(bare.headers["X-Proofgate-Rule"] == "client-unauthenticated")
      let wrong = try await gateway.redeem(code, "w3") { form in
        form.remove("code_verifier")
        form.append("client_secret", "wrong")
      }
      wrong.expectTokenError(401, "invalid_client")
      let next = try await gateway.code("w3", adjusting: Self.withoutChallenge)
      let response = try await gateway.redeem(next, "w3") { form in
        form.remove("code_verifier")
        form.append("client_secret", "w3secret")
      }
      let token = try #require(NativeApp.tokens(in: response)?.refreshToken, "\(response.text)").reveal()
      // The old version also refreshes with its secret.
      let refreshed = try await refresh(gateway, token, secret: "w3secret")
      #expect(refreshed.status == 200, "\(refreshed.text)")
      let lines = gateway.logLines.filter { $0.contains("old-version-accepted") }
      #expect(lines.contains { $0.contains(#""endpoint":"authorization""#) }, "\(lines)")
      #expect(lines.contains { $0.contains(#""endpoint":"token""#) }, "\(lines)")
    }
  }

  @Test("I-credentials: the secret that the gateway holds is not used for a sign-in without PKCE")
  func heldSecret() async throws {
    let policy = try Self.policy { client in
      client.upstream.clientSecret = Secret("w3secret")
      client.upstream.authentication = .basic
    }
    try await GatewayFixture.run(policy) { gateway in
      let code = try await gateway.code("w3", adjusting: Self.withoutChallenge)
      try await gateway.redeem(code, "w3") { $0.remove("code_verifier") }.expectTokenError(401, "invalid_client")
      // The new version has PKCE and no secret.
      let new = try await gateway.redeem(try await gateway.code("w3"), "w3")
      #expect(new.status == 200, "\(new.text)")
    }
  }

  @Test("I-credentials: a code of the new version is of no use to a program with the secret and without the verifier")
  func noDowngrade() async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      let code = try await gateway.code("w3")
      let stolen = try await gateway.redeem(code, "w3") { form in
        form.remove("code_verifier")
        form.append("client_secret", "w3secret")
      }
      #expect(stolen.headers["X-Proofgate-Rule"] == "pkce-verifier-required")
      // A request from which the challenge was removed leads to a code that the new version does not redeem.
      let stripped = try await gateway.code("w3", adjusting: Self.withoutChallenge)
      let injected = try await gateway.redeem(stripped, "w3") { $0.append("client_secret", "w3secret") }
      #expect(injected.status == 400, "\(injected.text)")
      let elsewhere = gateway.authorizationTarget(
        "w3", "https://web3.example.com/other", adjusting: Self.withoutChallenge)
      #expect(try await gateway.get(elsewhere).headers["Location"] == nil)
    }
  }

  @Test(
    "Without the date, after it, and for a client with another id upstream, a sign-in needs PKCE", arguments: [0, 1, 2])
  func refused(_ variant: Int) async throws {
    let policy = try Self.policy(until: variant == 0 ? nil : variant == 1 ? 1 : 1_000_000_000_000) { client in
      if variant == 2 { client.upstream.clientID = ClientID("legacy-native") }
    }
    try await GatewayFixture.run(policy) { gateway in
      let response = try await gateway.get(gateway.authorizationTarget("w3", adjusting: Self.withoutChallenge))
      #expect(
        response.headers["X-Proofgate-Rule"] == "pkce-required"
          || response.headers["Location"]?.contains("error=invalid_request") == true, "\(response.status)")
    }
  }

  @Test("I-observe: after a return to observe mode, the app's own secret goes upstream with its sealed refresh token")
  func undo() async throws {
    let policy = try Self.policy(until: nil) { client in
      client.upstream.clientSecret = Secret("w3secret")
      client.upstream.authentication = .basic
    }
    try await GatewayFixture.run(policy) { gateway in
      let response = try await gateway.redeem(try await gateway.code("w3"), "w3")
      let sealed = try #require(NativeApp.tokens(in: response)?.refreshToken, "\(response.text)").reveal()
      await gateway.reload { policy in
        policy.edit("w3") { client in
          client.mode = .observe
          client.upstream.clientSecret = nil
          client.upstream.authentication = .none
        }
      }
      let refreshed = try await refresh(gateway, sealed, secret: "w3secret")
      #expect(refreshed.status == 200, "\(refreshed.text)")
    }
  }

  @Test("A refresh token from before the gateway goes to the server with the held secret, or leads to a new sign-in")
  func rawToken() async throws {
    for holdsSecret in [true, false] {
      let policy = try Self.policy(until: nil) { client in
        client.upstream.clientSecret = holdsSecret ? Secret("w3secret") : nil
        client.upstream.authentication = holdsSecret ? .basic : .none
      }
      try await GatewayFixture.run(policy) { gateway in
        gateway.upstream.script { request in
          guard request.path == "/token" else { return nil }
          let isRight =
            request.headers["Authorization"]
            == BasicCredentials(user: "w3", password: Secret("w3secret")).header.reveal()
          return Response(
            status: isRight ? 200 : 401, headers: ["Content-Type": "application/json"],
            body: Array(
              (isRight ? #"{"access_token":"a1","token_type":"bearer"}"# : #"{"error":"invalid_client"}"#).utf8))
        }
        let response = try await refresh(gateway, "from-before")
        if holdsSecret {
          let sealed = try #require(NativeApp.tokens(in: response)?.refreshToken, "\(response.text)").reveal()
          #expect(sealed != "from-before")
        } else {
          response.expectTokenError(400, "invalid_grant")
        }
      }
    }
  }
}
