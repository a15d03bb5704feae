/// The secret behind a code challenge (RFC 7636, section 4.1).
///
///     code-verifier = 43*128unreserved
public struct CodeVerifier: Sendable {
  public let secret: Secret

  /// `nil` when the text is not a verifier. Nothing is trimmed.
  public init?(parsing text: String, padding: Base64Padding = .refused) {
    guard CodeVerifier.isWellFormed(text, padding: padding) else { return nil }
    secret = Secret(text)
  }

  static func isWellFormed(_ text: String, padding: Base64Padding) -> Bool {
    guard text.utf8.count >= 43, text.utf8.count <= 128 else { return false }
    var bytes = Array(text.utf8)
    if padding == .tolerated {
      // At most two: base64 never ends in more. Clients that pad use the standard alphabet as well
      // (git-credential-oauth 0.4.2: `+` and `/` in one verifier of two).
      for _ in 0..<2 where bytes.last == UInt8(ascii: "=") { bytes.removeLast() }
      return bytes.allSatisfy { ASCII.isUnreserved($0) || $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "/") }
    }
    return bytes.allSatisfy(ASCII.isUnreserved)
  }
}
