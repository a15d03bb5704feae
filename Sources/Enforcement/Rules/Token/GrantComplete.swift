import OAuth

extension Rule where Context == TokenContext {
  /// RFC 6749, sections 4.1.3 and 6; RFC 8628, section 3.4.
  static var grantComplete: Rule {
    Rule(name: "the grant's own parameter is there") { context in
      switch context.grant {
      case .authorizationCode: context.parameters[.code] == nil ? .refuse(.codeMissing) : .pass
      case .refreshToken: context.parameters[.refreshToken] == nil ? .refuse(.refreshTokenMissing) : .pass
      case .deviceCode: context.parameters[.deviceCode] == nil ? .refuse(.deviceCodeMissing) : .pass
      case .clientCredentials, .password, nil: .pass
      }
    }
  }
}
