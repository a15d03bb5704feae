import OAuth

extension Rule where Context == AuthorizationContext {
  /// RFC 6749, sections 3.1 and 4.1.2.1: of two URIs neither is trusted.
  static var redirectURIOnce: Rule {
    Rule(name: "redirect_uri occurs once") { context in
      switch context.parameters.reading(.redirectURI) {
      case .repeated: .refuse(.redirectURIRepeated)
      case .malformed: .refuse(.redirectURIMalformed)
      case .value, .absent: .pass
      }
    }
  }
}
