import OAuth
import Policy

/// What a request says about PKCE.
enum ParsedChallenge: Sendable {
  /// No challenge; a method alone means nothing.
  case absent
  case unsupportedMethod
  case malformed
  case value(CodeChallenge)

  init(_ parameters: FormParameters, client: Client?) {
    guard let client, let text = parameters[.codeChallenge] else {
      self = .absent
      return
    }
    // Without a method it is plain, never S256 (RFC 7636, section 4.3); names are case-sensitive.
    let name = parameters[.codeChallengeMethod] ?? CodeChallengeMethod.plain.rawValue
    guard let method = CodeChallengeMethod(rawValue: name), client.pkceMethods.contains(method) else {
      self = .unsupportedMethod
      return
    }
    let challenge = CodeChallenge(parsing: text, method: method, padding: client.verifierPadding)
    self = challenge.map(ParsedChallenge.value) ?? .malformed
  }

  var value: CodeChallenge? {
    guard case .value(let challenge) = self else { return nil }
    return challenge
  }
}
