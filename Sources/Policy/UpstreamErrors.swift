public import OAuth

/// The OAuth errors that a server means by words, numbers and statuses of its own (`upstream.errors`).
///
/// An app repeats a refresh for ever if it does not learn that the token is dead, and discards a valid token if it gets
/// `invalid_grant` for another fault. So only the operator decides about words that the gateway does not know.
public struct UpstreamErrors: Sendable, Equatable {
  /// The errors that a word may mean (RFC 6749, section 5.2), and two that say that the client may repeat the request.
  public static let codes: [OAuthErrorCode] = [
    .invalidGrant, .invalidClient, .invalidRequest, .invalidScope, .unauthorizedClient, .unsupportedGrantType,
    .serverError, .temporarilyUnavailable,
  ]
  /// The statuses that may mean an error. All others are those of proxies and of limits.
  public static let statuses = 400...500
  /// The maximum number of entries. Each answer with an error is compared with them.
  public static let maximumCount = 64
  /// The maximum length of a word, in bytes.
  public static let maximumLength = 128

  /// The errors by the words and numbers.
  public private(set) var words: [String: OAuthErrorCode] = [:]
  /// The errors by the statuses.
  public private(set) var byStatus: [Int: OAuthErrorCode] = [:]

  /// Creates a mapping without entries.
  public init() {}

  /// True without entries.
  public var isEmpty: Bool { words.isEmpty && byStatus.isEmpty }

  /// Adds an entry. A number of three digits within ``statuses`` is a status, and any other text a word.
  public mutating func add(_ key: String, _ code: OAuthErrorCode) {
    if key.utf8.count == 3, let status = Int(key), UpstreamErrors.statuses.contains(status) {
      byStatus[status] = code
    } else {
      words[key] = code
    }
  }
}
