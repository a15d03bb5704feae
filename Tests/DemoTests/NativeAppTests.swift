import ByteText
import Cryptography
import Demo
import HTTP
import LegacyServer
import OAuth
import Testing

@Suite("The native app")
struct NativeAppTests {
  static let app = NativeApp(
    clientID: "com.example.mail", redirectURI: "com.example.mail:/cb",
    server: NativeApp.Server(
      authorizationEndpoint: WebAddress(host: "id.test", port: 80, target: "/authorize?x=1"),
      tokenEndpoint: WebAddress(host: "id.test", port: 80, target: "/token"), issuer: "http://id.test"))

  @Test("The challenge is the S256 transformation of a new verifier of 43 characters (7636-4.2)")
  func challenge() throws {
    let attempt = Self.app.start()
    let verifier = attempt.verifier.reveal()
    #expect(verifier.utf8.count == 43)
    #expect(attempt.challenge == Base64URL.encode(sha256(Array(verifier.utf8))))
    let query = Form(decoding: try #require(attempt.url.target.split(separator: "?", maxSplits: 1).last))
    #expect(query["x"] == "1")
    #expect(query["code_challenge"] == attempt.challenge)
    #expect(query["code_challenge_method"] == "S256")
    #expect(query["redirect_uri"] == "com.example.mail:/cb")
    #expect(Self.app.start().verifier.reveal() != verifier)
  }

  @Test("A response with another state, another issuer, an error or no code is refused")
  func refusals() {
    let attempt = Self.app.start()
    let good: Form = ["code": "c", "state": attempt.state, "iss": "http://id.test"]
    #expect(throws: NativeApp.Refusal.wrongState) {
      _ = try Self.app.code(in: ["code": "c", "state": "x", "iss": "http://id.test"], for: attempt)
    }
    #expect(throws: NativeApp.Refusal.wrongIssuer) {
      _ = try Self.app.code(in: ["code": "c", "state": attempt.state, "iss": "http://evil.test"], for: attempt)
    }
    #expect(throws: NativeApp.Refusal.wrongIssuer) {
      _ = try Self.app.code(in: ["code": "c", "state": attempt.state], for: attempt)
    }
    #expect(throws: NativeApp.Refusal.error("access_denied")) {
      var answer = good
      answer.append("error", "access_denied")
      _ = try Self.app.code(in: answer, for: attempt)
    }
    #expect(throws: NativeApp.Refusal.noCode) {
      _ = try Self.app.code(in: ["state": attempt.state, "iss": "http://id.test"], for: attempt)
    }
    #expect((try? Self.app.code(in: good, for: attempt))?.reveal() == "c")
  }

  @Test("A token request of a public client has no secret (7636-4.5)")
  func tokenRequest() {
    let attempt = Self.app.start()
    let request = Self.app.tokenRequest(code: attempt.verifier, verifier: attempt.verifier)
    let body = Form(decoding: String(decoding: request.body, as: UTF8.self))
    #expect(
      body.fields.map(\.name) == ["grant_type", "code", "redirect_uri", "client_id", "code_verifier"])
    #expect(request.headers.onlyValue(of: "Authorization") == nil)
    #expect(request.headers.onlyValue(of: "Content-Type") == "application/x-www-form-urlencoded")
  }
}
