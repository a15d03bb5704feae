/// What an authorization request asks to be answered with (RFC 6749, section 3.1.1; OAuth 2.0 Multiple Response Types).
public struct ResponseType: Hashable, Sendable {
  /// The values; their order means nothing.
  public let values: Set<String>

  public init(parsing text: String) {
    self = text == "code" ? .code : ResponseType(Set(text.split(separator: " ").map(String.init)))
  }

  private init(_ values: Set<String>) {
    self.values = values
  }

  public static let code = ResponseType(["code"])

  private static let known: Set<String> = ["code", "token", "id_token", "none"]

  /// Whether every value is one that a specification names.
  public var isKnown: Bool { !values.isEmpty && values.isSubset(of: ResponseType.known) }

  /// Whether something else than a code would come through the browser: implicit and hybrid.
  public var returnsTokens: Bool { values.contains("token") || values.contains("id_token") }
}
