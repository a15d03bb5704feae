import OAuth

extension Rule where Context == TokenContext {
  /// RFC 9126, section 2.1: what is pushed does not itself refer to something.
  static var noReferencePushed: Rule {
    Rule(name: "the pushed request refers to nothing") { context in
      context.parameters.contains(.requestURI) ? .refuse(.pushedReference) : .pass
    }
  }
}
