import OAuth

extension Rule where Context == TokenContext {
  /// RFC 6749, section 3.3.
  static var tokenScopeWellFormed: Rule {
    Rule(name: "scope is a list of scope tokens") { context in
      guard let scope = context.parameters[.scope], Scope(parsing: scope) == nil else { return .pass }
      return .refuse(.scopeMalformed)
    }
  }
}
