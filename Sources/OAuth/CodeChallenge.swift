import Cryptography

/// What an authorization request commits to, and how (RFC 7636, section 4.2).
public struct CodeChallenge: Hashable, Sendable {
  /// The value as sent, without the padding that lenient syntax tolerates in an S256 challenge.
  public let text: String
  public let method: CodeChallengeMethod

  /// For values that were parsed before: opened from a sealed one.
  public init(text: String, method: CodeChallengeMethod) {
    self.text = text
    self.method = method
  }

  /// `nil` when no verifier could ever match: the wrong length or alphabet, or, for S256, not the one canonical
  /// base64url spelling of 32 bytes.
  public init?(parsing text: String, method: CodeChallengeMethod, padding: Base64Padding = .refused) {
    switch method {
    case .plain:
      guard CodeVerifier.isWellFormed(text, padding: padding) else { return nil }
      self.init(text: text, method: method)
    case .s256:
      let bare = padding == .tolerated && text.utf8.last == UInt8(ascii: "=") ? String(text.dropLast()) : text
      guard bare.utf8.count == 43, Base64URL.decode(bare)?.count == 32 else { return nil }
      self.init(text: bare, method: method)
    }
  }

  /// True if the verifier is what this challenge was made from (RFC 7636, section 4.6). Strings are compared, never
  /// decoded digests, in time that does not depend on where they differ.
  public func matches(_ verifier: CodeVerifier) -> Bool {
    let verifier = verifier.secret.reveal()
    return switch method {
    case .plain: constantTimeEqual(verifier, text)
    case .s256: constantTimeEqual(Base64URL.encode(sha256(Array(verifier.utf8))), text)
    }
  }
}

/// Whether `=` at the end of a verifier or a challenge, and base64's own alphabet in a verifier, are accepted, which
/// RFC 7636 does not allow.
public enum Base64Padding: Sendable {
  case refused
  case tolerated
}
