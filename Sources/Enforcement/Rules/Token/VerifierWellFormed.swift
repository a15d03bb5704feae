import OAuth

extension Rule where Context == TokenContext {
  /// RFC 7636, section 4.1, after one form decoding and without trimming.
  static var verifierWellFormed: Rule {
    Rule(name: "the code verifier is well-formed") { context in
      guard context.grant == .authorizationCode, context.parameters["code_verifier"] != nil else { return .pass }
      return context.verifier == nil ? .refuse(.verifierMalformed) : .pass
    }
  }
}
