import OAuth
import Policy

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
