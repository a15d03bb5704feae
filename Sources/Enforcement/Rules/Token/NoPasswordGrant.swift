import OAuth

extension Rule where Context == TokenContext {
  /// RFC 9700, section 2.4: never forwarded, whoever asks.
  static var noPasswordGrant: Rule {
    Rule(name: "the grant is not the password grant") { context in
      context.parameters[.grantType] == GrantType.password.rawValue ? .refuse(.passwordGrant) : .pass
    }
  }
}
