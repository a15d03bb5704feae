import OAuth
import Policy
import Time

// Rules on device flows (RFC 8628).

extension Rule where Context == TokenContext {
  /// RFC 8628, section 3.2, with RFC 6749, section 5.2.
  static var deviceGrantAllowed: Rule {
    Rule(name: "the client may use the device grant", source: "RFC 8628, section 3.2") { context in
      guard let client = context.client else { return .pass }
      return client.grants.contains(.deviceCode) ? .pass : .refuse(.grantNotAllowed)
    }
  }
}

extension Rule where Context == DevicePollContext {
  /// RFC 8628, section 3.4, with RFC 6749, section 5.2.
  static var deviceCodeIssuedToThisClient: Rule {
    Rule(name: "the device code was issued to this client", source: "RFC 8628, section 3.4") { context in
      context.deviceCode.clientID == context.poll.client.id ? .pass : .refuse(.deviceCodeIssuedToOtherClient)
    }
  }

  /// RFC 8628, section 3.5.
  static var deviceCodeNotExpired: Rule {
    Rule(name: "the device code has not expired", source: "RFC 8628, section 3.5") { context in
      context.now < context.deviceCode.expiry ? .pass : .refuse(.deviceCodeExpired)
    }
  }

  /// The gateway uses an upstream secret only for device codes that were issued to the upstream id that the client has
  /// now (invariant `I-credentials`). A code whose flow the gateway runs is checked with the authorization code that the
  /// user approves.
  static var deviceCodeStillAuthorized: Rule {
    Rule(name: "the policy still gives the client these credentials", source: "invariant I-credentials") { context in
      guard let upstream = context.deviceCode.upstream else { return .pass }
      return upstream.upstreamClientID == context.poll.client.upstream.clientID ? .pass : .refuse(.codeOutdated)
    }
  }
}
