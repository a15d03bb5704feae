internal import ByteText

/// The value of `response_type`: a list of names that says what the authorization response is to contain (RFC 6749,
/// section 3.1.1; OAuth 2.0 Multiple Response Types).
///
///     response-type = response-name *( SP response-name )
///     response-name = 1*( "_" / DIGIT / ALPHA )
public struct ResponseType: Hashable, Sendable {
  /// The names in alphabetical order. Their order in the request has no meaning.
  public let values: [String]

  /// Parses a response type; `nil` if the text does not match the grammar (RFC 6749, appendix A.3). Servers read such a
  /// text in different ways: some ignore spaces at its ends, others find an empty name.
  public init?(parsing text: String) {
    guard text != "code" else {
      self = .code
      return
    }
    // With more names than there are known ones, the last one has a space.
    let names = text.split(
      separator: " ", maxSplits: ResponseType.maximumCount - 1, omittingEmptySubsequences: false)
    guard names.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(ResponseType.isNameByte) }) else { return nil }
    self.init(names.map(String.init).sorted())
  }

  private init(_ values: [String]) {
    self.values = values
  }

  /// The maximum number of names. The registered types have up to three.
  private static let maximumCount = 16

  /// The response type `code` (RFC 6749, section 4.1.1).
  public static let code = ResponseType(["code"])

  private static let known: Set<String> = ["code", "token", "id_token", "none"]

  /// True if each name occurs once and is defined by a specification.
  public var isKnown: Bool {
    Set(values).count == values.count && values.allSatisfy(ResponseType.known.contains)
  }

  /// True if the response would contain a token, which then passes through the browser (implicit and hybrid flows).
  public var returnsTokens: Bool { values.contains("token") || values.contains("id_token") }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    byte.isLetterOrDigit || byte == UInt8(ascii: "_")
  }
}
