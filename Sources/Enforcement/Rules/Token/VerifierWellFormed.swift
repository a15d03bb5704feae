import OAuth
import Policy

extension Rule where Context == TokenContext {
  /// RFC 7636, section 4.1, after one form decoding and without trimming.
  static var verifierWellFormed: Rule {
    Rule(name: "the code verifier is well-formed") { context in
      guard let client = context.client, context.grant == .authorizationCode,
        let text = context.parameters[.codeVerifier]
      else { return .pass }
      return CodeVerifier(parsing: text, padding: client.verifierPadding) == nil ? .refuse(.verifierMalformed) : .pass
    }
  }
}
