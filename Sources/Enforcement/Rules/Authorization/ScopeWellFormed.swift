import OAuth

extension Rule where Context == AuthorizationContext {
  /// RFC 6749, section 3.3.
  static var scopeWellFormed: Rule {
    Rule(name: "scope is a list of scope tokens") { context in
      guard let scope = context.parameters[.scope], Scope(parsing: scope) == nil else { return .pass }
      return .refuse(.scopeMalformed)
    }
  }
}
