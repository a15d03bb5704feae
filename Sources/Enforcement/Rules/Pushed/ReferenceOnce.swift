import OAuth

extension Rule where Context == AuthorizationContext {
  /// RFC 9126, section 4: one reference to one pushed request.
  static var referenceOnce: Rule {
    Rule(name: "request_uri occurs once") { context in
      guard case .value = context.parameters.reading("request_uri") else { return .refuse(.pushedUnknown) }
      return .pass
    }
  }
}
