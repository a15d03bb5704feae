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
      let unpadded = syntax == .lenient && text.utf8.last == UInt8(ascii: "=") ? String(text.dropLast()) : text
      guard unpadded.utf8.count == 43, Base64URL.decode(unpadded)?.count == 32 else { return nil }
      self.init(text: unpadded, method: method)
    }
  }

  /// True if this challenge was derived from the verifier (RFC 7636, section 4.6). Compares the encoded texts, in a
  /// time that does not depend on where they differ.
  public func matches(_ verifier: CodeVerifier) -> Bool {
    let verifier = verifier.secret.reveal()
    return switch method {
    case .plain: constantTimeEqual(verifier, text)
    case .s256: constantTimeEqual(Base64URL.encode(sha256(verifier.utf8.span)), text)
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

/// A transformation of the code verifier (RFC 7636, section 4.2), as in the IANA registry (section 6.2).
public enum CodeChallengeMethod: String, Sendable, CaseIterable {
  case s256 = "S256"
  case plain
}

/// The secret from which a code challenge is derived (RFC 7636, section 4.1).
///
///     code-verifier = 43*128unreserved
public struct CodeVerifier: Sendable {
  /// The text of the verifier, unchanged.
  public let secret: Secret

  /// Parses a verifier; `nil` if the text does not match the grammar. With lenient syntax, the text may also contain
  /// `+` and `/`, and end in one or two `=`. No character is removed.
  public init?(parsing text: String, syntax: VerifierSyntax = .strict) {
    guard CodeVerifier.isWellFormed(text, syntax: syntax) else { return nil }
    secret = Secret(text)
  }

  static func isWellFormed(_ text: String, syntax: VerifierSyntax) -> Bool {
    let bytes = text.utf8.span
    guard bytes.count >= 43, bytes.count <= 128 else { return false }
    if syntax == .strict { return bytes.allSatisfy(\.isUnreserved) }
    // Base64 text ends in at most two `=`. Clients that send `=` may also use the standard alphabet: about half of the
    // verifiers of git-credential-oauth 0.4.2 contain `+` or `/`.
    var end = bytes.count
    while end > bytes.count - 2, bytes[end - 1] == UInt8(ascii: "=") { end -= 1 }
    return bytes.extracting(..<end).allSatisfy { $0.isUnreserved || $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "/") }
  }
}

/// The code verifier with which the gateway proves to the upstream that it began a transaction (RFC 7636, section 4.1).
///
/// The verifier binds the upstream code to the transaction that requested it, so an attacker who learns a code from a
/// browser cannot redeem it in another transaction. It has 256 random bits. The gateway keeps it in the sealed state
/// and the sealed code, and sends it only to the upstream.
public struct UpstreamVerifier: Equatable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  /// The length in bytes, before encoding.
  public static let byteCount = 32

  /// The random bytes that are encoded as the verifier.
  public let bytes: [UInt8]

  /// Wraps random bytes; `nil` if there are not exactly 32.
  ///
  /// - Parameter bytes: New random bytes.
  public init?(bytes: [UInt8]) {
    guard bytes.count == UpstreamVerifier.byteCount else { return nil }
    self.bytes = bytes
  }

  /// The value of `code_verifier`, 43 characters.
  public var secret: Secret { Secret(Base64URL.encode(bytes)) }

  /// The challenge in the gateway's authorization request. Its method is always S256, because a plain challenge would
  /// reveal the verifier to the browser.
  public var challenge: CodeChallenge {
    CodeChallenge(text: Base64URL.encode(sha256(Array(secret.reveal().utf8))), method: .s256)
  }

  /// Always `***`.
  public var description: String { "***" }
  /// Always `***`.
  public var debugDescription: String { "***" }
  /// A mirror without children, so that `dump` does not show the bytes.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
