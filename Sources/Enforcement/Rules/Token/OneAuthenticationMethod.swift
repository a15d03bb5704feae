import OAuth

extension Rule where Context == TokenContext {
  /// RFC 6749, section 2.3.
  static var oneAuthenticationMethod: Rule {
    Rule(name: "the client authenticates in one way") { context in
      switch context.authenticationError {
      case .severalMethods, .severalIdentifiers: .refuse(.clientAuthenticationSeveral)
      case .malformedHeader: .refuse(.clientAuthenticationMalformed)
      case nil: .pass
      }
    }
  }
}
