/// What an authorization request commits to, and how (RFC 7636, section 4.2).
public struct CodeChallenge: Hashable, Sendable {
  /// The value as sent, without the padding that lenient syntax tolerates.
  public let text: String
  public let method: CodeChallengeMethod

  /// For values that were parsed before: opened from a sealed one.
  public init(text: String, method: CodeChallengeMethod) {
    self.text = text
    self.method = method
  }
}
