import HTTP
import OAuth

/// The reaction of a token endpoint. It contains no token and no text of the server that is not a short word.
package struct TokenReaction: Equatable, Sendable {
  package let status: Int
  /// The form of the body.
  package let format: ProbeAnswer.Format
  /// The error code; `nil` if there is none.
  package let error: String?
  /// The member with the error code: `error` in OAuth.
  package let errorName: String?
  /// The scheme of `WWW-Authenticate`, in lower case; `nil` without the field.
  let challenge: String?
  /// True if `WWW-Authenticate` repeats the error code, as Authlib does.
  let challengeHasError: Bool
  /// True if the response has an access token.
  let hasTokens: Bool

  init(_ answer: ProbeAnswer) {
    status = answer.status
    format = answer.format
    let members = answer.format == .json || answer.format == .form ? answer.members : [:]
    hasTokens = members["access_token"] != nil
    // The codes of OAuth under any name; then the member `error` with any code.
    let named = members.sorted { $0.key < $1.key }.first { member in
      member.key.lowercased().contains("error") && OAuthErrorCode(rawValue: member.value) != nil
    }
    let found = named.map { ($0.key, $0.value) } ?? members["error"].map { ("error", $0) }
    errorName = found.map { Word.printable($0.0.lowercased()) }
    error = found.map { Word.printable($0.1) }
    let field = answer.headers["WWW-Authenticate"]
    challenge = field.map { Word.printable($0.prefix { $0 != " " }.lowercased()) }
    challengeHasError = field?.hasPrefix("Basic error=") ?? false
  }

  /// True if only an OAuth endpoint answers like this.
  var isOAuth: Bool { hasTokens || error != nil }

  /// True if the reaction is the refusal of the client and not of the grant.
  var refusesClient: Bool { error == "invalid_client" || error == nil && status == 401 }

  /// The reaction in words.
  package var description: String {
    if hasTokens { return "tokens, as \(format.words)" }
    let body = error.map { "`\($0)`" } ?? "no error code"
    return "\(body), status \(status), \(format.words)"
  }
}
