internal import ByteText

/// A bearer token in an `Authorization` field (RFC 6750, section 2.1).
public struct BearerToken: Sendable {
  /// The token.
  public let token: Secret

  /// Parses the value of an `Authorization` field; `nil` if the scheme is not `Bearer`, or if the token does not match
  /// the grammar.
  ///
  ///     b64token    = 1*( ALPHA / DIGIT / "-" / "." / "_" / "~" / "+" / "/" ) *"="
  ///     credentials = "Bearer" 1*SP b64token
  public init?(parsing field: String) {
    let parts = field.utf8.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: true)
    guard parts.count == 2, String(Substring(parts[0])).lowercased() == "bearer",
      field.utf8.first != UInt8(ascii: " "), field.utf8.last != UInt8(ascii: " ")
    else { return nil }
    let characters = parts[1].prefix { $0 != UInt8(ascii: "=") }
    let padding = parts[1].dropFirst(characters.count)
    guard !characters.isEmpty, padding.allSatisfy({ $0 == UInt8(ascii: "=") }),
      characters.allSatisfy({ $0.isLetterOrDigit || BearerToken.punctuation.contains($0) })
    else { return nil }
    token = Secret(String(Substring(parts[1])))
  }

  private static let punctuation = Array("-._~+/".utf8)
}
