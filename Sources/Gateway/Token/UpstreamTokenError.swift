internal import ByteText
import JSON
import OAuth

/// An error of the upstream's token endpoint (RFC 6749, section 5.2), also in the words of servers that are older than the
/// standard or that put errors into objects and lists.
struct UpstreamTokenError {
  let code: OAuthErrorCode
  let description: String?
  private let isPollError: Bool
  /// True if the operator has mapped a word of the response.
  private let isMapped: Bool
  /// False if no word of the response is known.
  let isKnown: Bool

  /// Finds the error among the members of a response; `nil` if they name none.
  ///
  /// The first word that is known decides. If there is none, the error is `server_error`, because an unknown word does not
  /// show that the client made an error. Objects and lists are searched only if there is no access token.
  ///
  /// - Parameters:
  ///   - mapped: The errors that the operator knows, which count before all others.
  ///   - isDevicePoll: True if the request was the poll of a device. The errors of RFC 8628, section 3.5, are only known
  ///     then.
  init?(_ members: [String: JSONValue], mapped: [String: OAuthErrorCode], isDevicePoll: Bool) {
    let hasToken = !(members["access_token"]?.text?.isEmpty ?? true)
    let words = UpstreamTokenError.words(in: members, deep: !hasToken, mapped)
    guard !words.isEmpty else { return nil }
    description = (members["error_description"] ?? members["error_message"])?.text
    if !mapped.isEmpty, let code = words.lazy.compactMap({ mapped[$0] }).first {
      self.code = code
      (isMapped, isPollError, isKnown) = (true, false, true)
      return
    }
    isMapped = false
    let pollCode = isDevicePoll ? words.lazy.compactMap(UpstreamTokenError.pollCode).first : nil
    isPollError = pollCode != nil
    let known = pollCode ?? words.lazy.compactMap(UpstreamTokenError.code).first
    code = known ?? .serverError
    isKnown = known != nil
  }

  /// True if a response with this status can be about the grant. Other statuses are those of proxies and of wrong paths;
  /// an error that only they bring could make the client discard a valid token. Servers answer polls with many.
  func isCredible(withStatus status: Int) -> Bool { isPollError || isMapped || [400, 401, 403].contains(status) }

  // MARK: Words

  /// Returns the position of a member that names an error in the order in which these count; `nil` for other members. A
  /// look-up of each name in the members of a successful response takes much more time than this `switch`.
  private static func rank(_ name: String) -> Int? {
    switch name {
    case "error": 0
    case "error_code": 1
    case "error_message": 2
    case "errors": 3
    case "fault": 4
    case "Error": 5
    case "ErrorCode": 6
    default: nil
    }
  }

  /// Bounds of the search. Longer texts are messages for people.
  private static let maximumDepth = 4
  private static let maximumWords = 16
  private static let maximumLength = 128

  private static func words(
    in members: [String: JSONValue], deep: Bool, _ mapped: [String: OAuthErrorCode]
  ) -> [String] {
    var values: [(rank: Int, value: JSONValue)] = []
    for (name, value) in members {
      guard let rank = rank(name), deep || value.text != nil else { continue }
      values.append((rank, value))
    }
    var words: [String] = []
    for (_, value) in values.sorted(by: { $0.rank < $1.rank }) { collect(value, into: &words, depth: 0, mapped) }
    return words
  }

  private static func collect(
    _ value: JSONValue, into words: inout [String], depth: Int, _ mapped: [String: OAuthErrorCode]
  ) {
    guard words.count < maximumWords, depth < maximumDepth else { return }
    switch value {
    // A longer text shows that there is an error, but is no known word.
    case .string(let text) where !text.isEmpty: words.append(text.utf8.count <= maximumLength ? text : "")
    case .integer(let number) where mapped[String(number)] != nil: words.append(String(number))
    case .array(let values): for value in values { collect(value, into: &words, depth: depth + 1, mapped) }
    case .object(let members):
      for (_, value) in members.sorted(by: { $0.key < $1.key }) {
        collect(value, into: &words, depth: depth + 1, mapped)
      }
    default: break
    }
  }

  /// True if the word is one that ``code`` maps.
  static func isKnown(_ word: String) -> Bool { code(word) != nil }

  /// Returns the error code for a word. The codes of RFC 6749, section 5.2, of RFC 8707, section 2, and those that OpenID
  /// Connect servers send for a refresh are kept. Other words for a bad code or token become `invalid_grant`.
  private static func code(_ word: String) -> OAuthErrorCode? {
    switch word {
    case "invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type",
      "invalid_scope", "invalid_target", "interaction_required", "login_required", "consent_required",
      "temporarily_unavailable", "server_error":
      OAuthErrorCode(rawValue: word)
    default:
      meansBadGrant(word) ? .invalidGrant : nil
    }
  }

  /// Returns the error code for a word in the answer to a poll (RFC 8628, section 3.5); `nil` for other errors. Some
  /// servers have other names for a denial and for an expired code.
  private static func pollCode(_ word: String) -> OAuthErrorCode? {
    switch word {
    case "authorization_pending": .authorizationPending
    case "slow_down": .slowDown
    case "access_denied", "authorization_declined": .accessDenied
    case "expired_token", "code_expired", "expired_code": .expiredToken
    default: nil
    }
  }

  /// True for words such as `bad_refresh_token`, `Refresh token expired` and `keymanagement.service.InvalidRefreshToken`: one
  /// word for the fault and one for the code or token, and nothing else that has a meaning.
  private static func meansBadGrant(_ word: String) -> Bool {
    guard word.utf8.count <= maximumLength, word.utf8.span.isASCII else { return false }
    // The names of packages are in front of a period; the one at the end of a sentence has nothing behind it.
    let last = word.utf8.split(separator: UInt8(ascii: ".")).last ?? word.utf8[...]
    let letters = last.filter(\.isLetter).map(\.lowercasedASCII)
    return badGrants.contains(String(decoding: letters, as: UTF8.self))
  }

  private static let badGrants: Set<String> = {
    let faults = ["invalid", "bad", "expired", "revoked", "unknown", "used", "inactive", "wrong"]
    let things = [
      "token", "refreshtoken", "code", "authorizationcode", "authcode", "verificationcode", "grant",
      "authorizationgrant",
    ]
    var words: Set<String> = []
    for thing in things {
      for fault in faults {
        for middle in ["", "is", "has", "hasbeen", "was"] {
          words.insert(thing + middle + fault)
          words.insert("the" + thing + middle + fault)
        }
        words.insert(fault + thing)
      }
      for end in ["notfound", "isnotvalid", "notvalid", "alreadyused", "doesnotexist", "hasalreadybeenused"] {
        words.insert(thing + end)
        words.insert("the" + thing + end)
      }
    }
    return words
  }()
}
