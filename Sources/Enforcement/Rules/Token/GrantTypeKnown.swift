import OAuth

extension Rule where Context == TokenContext {
  /// RFC 6749, sections 4.1.3 and 5.2: what the gateway does not understand it does not forward.
  static var grantTypeKnown: Rule {
    Rule(name: "the grant type is a known one") { context in
      guard let text = context.parameters[.grantType] else { return .refuse(.grantTypeMissing) }
      return GrantType(rawValue: text) == nil ? .refuse(.grantTypeUnsupported) : .pass
    }
  }
}
