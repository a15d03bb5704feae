internal import ByteText
import Cryptography

/// The challenge of an authorization request and its method (RFC 7636, section 4.2).
public struct CodeChallenge: Hashable, Sendable {
  /// The value of `code_challenge`. For an S256 challenge, padding that the lenient syntax accepts is removed.
  public let text: String
  /// The method by which the challenge was derived from the verifier.
  public let method: CodeChallengeMethod

  /// Creates a challenge from values that were parsed before, such as those of a sealed state.
  public init(text: String, method: CodeChallengeMethod) {
    self.text = text
    self.method = method
  }

  /// Parses a challenge; `nil` if no verifier could match it, because its length or alphabet is wrong, or because an
  /// S256 challenge is not the canonical base64url encoding of 32 bytes.
  public init?(parsing text: String, method: CodeChallengeMethod, syntax: VerifierSyntax = .strict) {
    switch method {
    case .plain:
      guard CodeVerifier.isWellFormed(text, syntax: syntax) else { return nil }
      self.init(text: text, method: method)
    case .s256:
      let bare = syntax == .lenient && text.utf8.last == UInt8(ascii: "=") ? String(text.dropLast()) : text
      guard bare.utf8.count == 43, Base64URL.decode(bare)?.count == 32 else { return nil }
      self.init(text: bare, method: method)
    }
  }

  /// True if this challenge was derived from the verifier (RFC 7636, section 4.6). The encoded texts are compared, in a
  /// time that does not depend on where they differ.
  public func matches(_ verifier: CodeVerifier) -> Bool {
    let verifier = verifier.secret.reveal()
    return switch method {
    case .plain: constantTimeEqual(verifier, text)
    case .s256: constantTimeEqual(Base64URL.encode(sha256(Array(verifier.utf8))), text)
    }
  }
}

/// The accepted syntax of verifiers and challenges (RFC 7636, sections 4.1 and 4.2).
public enum VerifierSyntax: Sendable {
  /// Exactly the syntax of RFC 7636.
  case strict
  /// Also `=` at the end of a verifier or challenge, and the characters `+` and `/` of standard base64 in a verifier or
  /// a plain challenge.
  case lenient
}
