import Testing
import VectorsTestSupport

@testable import OAuth

@Suite("PKCE")
struct PKCETests {
  private static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"

  @Test(
    "7636-4.6-s256, 7636-B-vector: every valid pair of verifier and challenge matches",
    arguments: Vectors.all.pkce.validPairs)
  func validPair(_ pair: Vectors.Pair) throws {
    let method = try #require(CodeChallengeMethod(rawValue: pair.method))
    let challenge = try #require(CodeChallenge(parsing: pair.challenge, method: method))
    let verifier = try #require(CodeVerifier(parsing: pair.verifier))
    #expect(challenge.matches(verifier))
    #expect(pair.verifier.utf8.count == pair.verifierLength)
    let other = try #require(CodeVerifier(parsing: String(repeating: "b", count: 43)))
    #expect(!challenge.matches(other))
  }

  @Test(
    "7636-4.1, 7636-4.6-mismatch: every invalid verifier is refused with its expected error",
    arguments: Vectors.all.pkce.invalidVerifiers)
  func invalidVerifier(_ vector: Vectors.Verifier) throws {
    let parsed = CodeVerifier(parsing: vector.verifier)
    guard vector.expectedError == "invalid_grant" else {
      #expect(parsed == nil)
      return
    }
    let verifier = try #require(parsed)
    let challenge = try #require(CodeChallenge(parsing: vector.againstChallenge, method: .s256))
    #expect(!challenge.matches(verifier))
  }

  @Test("7636-4.2: every invalid challenge is refused", arguments: Vectors.all.pkce.invalidChallenges)
  func invalidChallenge(_ vector: Vectors.Challenge) {
    // The rules check presence and method. This test checks the rest: an S256 challenge must be well-formed.
    guard let text = vector.challenge, let name = vector.method, !text.isEmpty else { return }
    guard let method = CodeChallengeMethod(rawValue: name) else { return }
    let challenge = CodeChallenge(parsing: text, method: method)
    #expect((challenge == nil) == (vector.id != "c-method-plain-default-profile"))
  }

  @Test("7636-7.2-no-fallback: the challenge does not match itself as a verifier")
  func challengeAsVerifier() throws {
    let text = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
    let challenge = try #require(CodeChallenge(parsing: text, method: .s256))
    #expect(!challenge.matches(try #require(CodeVerifier(parsing: text))))
  }

  @Test("Padding is accepted only with lenient syntax, and a verifier is compared with its padding")
  func lenient() throws {
    let padded = Self.verifier + "="
    #expect(CodeVerifier(parsing: padded) == nil)
    let verifier = try #require(CodeVerifier(parsing: padded, syntax: .lenient))
    let challenge = try #require(
      CodeChallenge(parsing: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM=", method: .s256, syntax: .lenient))
    #expect(challenge.text == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
    #expect(!challenge.matches(verifier))
    #expect(challenge.matches(try #require(CodeVerifier(parsing: Self.verifier))))
    #expect(CodeVerifier(parsing: "====" + Self.verifier, syntax: .lenient) == nil)
    #expect(CodeVerifier(parsing: Self.verifier + "===", syntax: .lenient) == nil)
  }

  @Test("A description of a verifier does not contain it")
  func secrecy() throws {
    let verifier = try #require(CodeVerifier(parsing: Self.verifier))
    #expect(!String(describing: verifier).contains(Self.verifier))
    #expect(!String(reflecting: verifier).contains(Self.verifier))
  }
}
