internal import ByteText

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
    guard text.utf8.count >= 43, text.utf8.count <= 128 else { return false }
    var bytes = Array(text.utf8)
    if syntax == .lenient {
      // Base64 ends in at most two. Clients that pad also use the standard alphabet: about half of the verifiers of
      // git-credential-oauth 0.4.2 contain `+` or `/`.
      for _ in 0..<2 where bytes.last == UInt8(ascii: "=") { bytes.removeLast() }
      return bytes.allSatisfy { $0.isUnreserved || $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "/") }
    }
    return bytes.allSatisfy(\.isUnreserved)
  }
}
