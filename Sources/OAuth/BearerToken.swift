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
    let scheme = field.utf8.prefix { $0 != .space }
    guard scheme.elementsEqual("bearer".utf8, by: { $0.lowercasedASCII == $1 }) else { return nil }
    let text = field.utf8[scheme.endIndex...].drop { $0 == .space }
    let characters = text.prefix { $0 != UInt8(ascii: "=") }
    let padding = text.dropFirst(characters.count)
    guard !characters.isEmpty, padding.allSatisfy({ $0 == UInt8(ascii: "=") }),
      characters.allSatisfy({ $0.isLetterOrDigit || BearerToken.punctuation.contains($0) })
    else { return nil }
    token = Secret(String(Substring(text)))
  }

  private static let punctuation = Array("-._~+/".utf8)
}
