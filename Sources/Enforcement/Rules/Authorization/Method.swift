import OAuth

extension Rule where Context == AuthorizationContext {
  /// RFC 6749, section 3.1: GET must work and POST may; a POST meets the same rules.
  static var methodIsTaken: Rule {
    Rule(name: "the method is GET or POST") { context in
      switch context.request.problem {
      case .method: .refuse(.methodNotAllowed)
      case .bodyType, .tooManyParameters, .split, nil: .pass
      }
    }
  }
}
