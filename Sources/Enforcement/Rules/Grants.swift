import OAuth
import Policy

// Rules about the grant type and what a client may use.

extension Rule where Context == AuthorizationContext {
  /// RFC 6749, section 4.1.2.1; a device client has no use for this endpoint (RFC 8628, section 3.1).
  static var authorizationGrantAllowed: Rule {
    Rule(name: "the client may use the authorization code grant") { context in
      guard let client = context.client else { return .pass }
      let isAllowed = client.grants.contains(.authorizationCode) && client.application != .device
      return isAllowed ? .pass : .refuse(.grantNotAllowed)
    }
  }
}

extension Rule where Context == TokenContext {
  /// RFC 6749, sections 4.1.3 and 5.2: what the gateway does not understand it does not forward.
  static var grantTypeKnown: Rule {
    Rule(name: "the grant type is a known one") { context in
      guard let text = context.parameters[.grantType] else { return .refuse(.grantTypeMissing) }
      return GrantType(rawValue: text) == nil ? .refuse(.grantTypeUnsupported) : .pass
    }
  }

  /// RFC 6749, section 5.2. Client credentials go upstream only as the client's own: the gateway lends it none for them
  /// (`I-credentials`), and a secret of the gateway's never goes there.
  static var grantAllowed: Rule {
    Rule(name: "the client may use the grant") { context in
      guard let client = context.client, let grant = context.grant, grant != .password else { return .pass }
      guard client.grants.contains(grant) else { return .refuse(.grantNotAllowed) }
      let lacksCredentials = grant == .clientCredentials && !client.presentsUpstreamCredentials
      return lacksCredentials ? .refuse(.grantNotAllowed) : .pass
    }
  }

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

  /// RFC 9700, section 2.4: never forwarded, whoever asks.
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
