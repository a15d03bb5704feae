import OAuth
import Policy

// Rules on the grant type and the grants that a client may use.

extension Rule where Context == AuthorizationContext {
  /// RFC 6749, section 4.1.2.1. A device client does not use this endpoint (RFC 8628, section 3.1).
  static var authorizationCodeGrantAllowed: Rule {
    Rule(name: "the client may use the authorization code grant") { context in
      guard let client = context.client else { return .pass }
      let isAllowed = client.grants.contains(.authorizationCode) && client.application != .device
      return isAllowed ? .pass : .refuse(.grantNotAllowed)
    }
  }
}

extension Rule where Context == TokenContext {
  /// RFC 6749, sections 4.1.3 and 5.2. In enforce mode, the gateway never forwards a grant type that it does not know.
  static var grantTypeKnown: Rule {
    Rule(name: "the grant type is known") { context in
      guard let text = context.parameters[.grantType] else { return .refuse(.grantTypeMissing) }
      return GrantType(rawValue: text) == nil ? .refuse(.grantTypeUnsupported) : .pass
    }
  }

  /// RFC 6749, section 5.2. For the client credentials grant, the gateway forwards only the client's own upstream
  /// credentials, as the client presented them (invariant `I-credentials`). It does not add credentials that it holds,
  /// and never forwards the secret with which a client authenticates to the gateway.
  static var grantAllowed: Rule {
    Rule(name: "the client may use the grant") { context in
      guard let client = context.client, let grant = context.grant, grant != .password else { return .pass }
      guard client.grants.contains(grant) else { return .refuse(.grantNotAllowed) }
      let lacksCredentials = grant == .clientCredentials && !client.presentsUpstreamCredentials
      return lacksCredentials ? .refuse(.grantNotAllowed) : .pass
    }
  }

  /// RFC 6749, sections 4.1.3 and 6; RFC 8628, section 3.4.
  static var requiredGrantParameterPresent: Rule {
    Rule(name: "the parameter that the grant requires is present") { context in
      switch context.grant {
      case .authorizationCode: context.parameters[.code] == nil ? .refuse(.codeMissing) : .pass
      case .refreshToken: context.parameters[.refreshToken] == nil ? .refuse(.refreshTokenMissing) : .pass
      case .deviceCode: context.parameters[.deviceCode] == nil ? .refuse(.deviceCodeMissing) : .pass
      case .clientCredentials, .password, nil: .pass
      }
    }
  }

  /// RFC 9700, section 2.4. In enforce mode, the password grant is refused for every client.
  static var noPasswordGrant: Rule {
    Rule(name: "the grant is not the password grant") { context in
      context.parameters[.grantType] == GrantType.password.rawValue ? .refuse(.passwordGrant) : .pass
    }
  }

  /// RFC 6749, section 4.4.
  static var noClientCredentialsForPublic: Rule {
    Rule(name: "a public client does not use client credentials") { context in
      guard context.grant == .clientCredentials, context.client?.kind == .public else { return .pass }
      return .refuse(.clientCredentialsPublic)
    }
  }
}
