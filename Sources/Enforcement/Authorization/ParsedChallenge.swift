import OAuth
import Policy

/// The code challenge of a request, or the reason why the request has no usable one.
enum ParsedChallenge: Sendable {
  /// The request has no challenge, or its client is unknown. A method without a challenge is ignored.
  case absent
  case unsupportedMethod
  case malformed
  case value(CodeChallenge)

  init(_ parameters: FormParameters, client: Client?) {
    guard let client, let text = parameters[.codeChallenge] else {
      self = .absent
      return
    }
    // Without a method, the challenge is `plain`, never `S256` (RFC 7636, section 4.3). Method names are
    // case-sensitive.
    let name = parameters[.codeChallengeMethod] ?? CodeChallengeMethod.plain.rawValue
    guard let method = CodeChallengeMethod(rawValue: name), client.pkceMethods.contains(method) else {
      self = .unsupportedMethod
      return
    }
    let challenge = CodeChallenge(parsing: text, method: method, syntax: client.verifierSyntax)
    self = challenge.map(ParsedChallenge.value) ?? .malformed
  }

  var value: CodeChallenge? {
    guard case .value(let challenge) = self else { return nil }
    return challenge
  }
}
