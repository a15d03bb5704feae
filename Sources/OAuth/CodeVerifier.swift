/// The secret behind a code challenge (RFC 7636, section 4.1).
///
///     code-verifier = 43*128unreserved
public struct CodeVerifier: Sendable {
  /// The text of the verifier.
  public let secret: Secret

  /// Parses a verifier; `nil` if the text does not match the grammar. Nothing is trimmed.
  public init?(parsing text: String, syntax: VerifierSyntax = .strict) {
    guard CodeVerifier.isWellFormed(text, syntax: syntax) else { return nil }
    secret = Secret(text)
  }

  static func isWellFormed(_ text: String, syntax: VerifierSyntax) -> Bool {
    guard text.utf8.count >= 43, text.utf8.count <= 128 else { return false }
    var bytes = Array(text.utf8)
    if syntax == .lenient {
      // At most two: base64 never ends in more. Clients that pad also use the standard alphabet (git-credential-oauth
      // 0.4.2: about half of its verifiers contain `+` or `/`).
      for _ in 0..<2 where bytes.last == UInt8(ascii: "=") { bytes.removeLast() }
      return bytes.allSatisfy { ASCII.isUnreserved($0) || $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "/") }
    }
    return bytes.allSatisfy(ASCII.isUnreserved)
  }
}
