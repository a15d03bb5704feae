/// The facts from a sign-in of a user. It contains no code and no token.
package struct SignInObservations: Sendable {
  /// The alphabet of a code.
  package enum Alphabet: String, Sendable {
    case hexadecimal, alphanumeric, base64url, other

    init(_ text: String) {
      let bytes = text.utf8
      if bytes.allSatisfy({ Alphabet.isDigit($0) || (0x61...0x66).contains($0) || (0x41...0x46).contains($0) }) {
        self = .hexadecimal
      } else if bytes.allSatisfy({ Alphabet.isDigit($0) || Alphabet.isLetter($0) }) {
        self = .alphanumeric
      } else if bytes.allSatisfy({ Alphabet.isDigit($0) || Alphabet.isLetter($0) || $0 == 0x2d || $0 == 0x5f }) {
        self = .base64url
      } else {
        self = .other
      }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
    private static func isLetter(_ byte: UInt8) -> Bool {
      (0x61...0x7a).contains(byte) || (0x41...0x5a).contains(byte)
    }
  }

  /// The `state` of the response.
  package enum State: String, Sendable {
    case unchanged, changed, missing
  }

  /// The error in place of a code, as a word.
  package var error: String?
  package var codeLength: Int?
  package var alphabet: Alphabet?
  package var state: State?
  /// The length of the `state` that was sent, in bytes.
  package var stateLength = 0
  /// True if the request had PKCE parameters and a parameter that the server cannot know.
  package var hadExtras = false
  /// The reaction to the redemption that should work.
  package var redemption: TokenReaction?
  package var verifier: Observations.Verifier?
  package var reuse: Observations.Reuse?
  /// True if another `redirect_uri` than that of the authorization request is refused at the token endpoint.
  package var comparesRedirectURI: Bool?
  package var hasRefreshToken: Bool?
  package var rotates: Bool?
  package var oldRefreshToken: Observations.Reuse?
  package var commaSeparatedScopes = false
  /// The issuer of the ID token; `nil` if there was none.
  package var idTokenIssuer: String?
  /// True if the server confirmed the revocation of the tokens of the probe.
  package var revoked: Bool?
}
