import OAuth

extension Rule where Context == TokenContext {
  /// RFC 6749, section 3.2.
  static var tokenMethodIsPost: Rule {
    Rule(name: "the method is POST") { context in
      context.request.problem == .method ? .refuse(.methodNotAllowed) : .pass
    }
  }
}
