import OAuth

extension Rule where Context == AuthorizationContext {
  /// RFC 9101, sections 5 and 7; OpenID Connect Core, section 7.2.1.
  static var noRequestObject: Rule {
    Rule(name: "no request object replaces the parameters") { context in
      switch (context.parameters.contains(.request), context.parameters.contains(.requestURI)) {
      case (true, true): .refuse(.requestObjectsBoth)
      case (true, false): .refuse(.requestObject)
      case (false, true): .refuse(.requestURI)
      case (false, false): context.parameters.contains(.registration) ? .refuse(.registrationParameter) : .pass
      }
    }
  }
}
