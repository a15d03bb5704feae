import OAuth

extension Rule where Context == RedemptionContext {
  /// RFC 6749, section 4.1.3, loopback port included. One that was not sent there may be absent here, and must be right if
  /// it is not.
  static var codeRedirectURISame: Rule {
    Rule(name: "redirect_uri is the one of the authorization request") { context in
      switch context.intent.redirectURI {
      case .some(let text) where text.utf8.elementsEqual(context.code.redirectURI.text.utf8): .pass
      case .none where !context.code.redirectURIWasSent: .pass
      case .some, .none: .refuse(.codeRedirectURI)
      }
    }
  }
}
