import OAuth
import Policy

// Rules on request objects and pushed authorization requests, whose parameters are not in the request itself.

extension Rule where Context == AuthorizationContext {
  /// RFC 9101, sections 5 and 7. The rule also refuses `registration`, a parameter in which a client describes itself
  /// (OpenID Connect Core, section 7.2.1).
  static var noRequestObject: Rule {
    Rule(name: "no request object replaces the parameters") { context in
      switch (context.parameters.contains(.request), context.parameters.contains(.requestURI)) {
      case (true, true): .refuse(.requestAndRequestURI)
      case (true, false): .refuse(.requestObject)
      case (false, true): .refuse(.requestURI)
      case (false, false): context.parameters.contains(.registration) ? .refuse(.registrationParameter) : .pass
      }
    }
  }

  /// RFC 9126, section 6.
  static var pushedAsRequired: Rule {
    Rule(name: "the request was pushed if the client has to push it") { context in
      guard context.client?.pushedAuthorization == .required, !context.isPushed else { return .pass }
      return .refuse(.pushedRequired)
    }
  }
}

extension Rule where Context == TokenContext {
  /// RFC 9126, sections 2 and 2.3. A client whose credentials only the upstream can verify may not push, because the
  /// gateway does not forward pushed requests.
  static var clientMayPush: Rule {
    Rule(name: "the client may push its requests") { context in
      guard let client = context.client else { return .pass }
      let isProven = context.proof == .identified || context.proof == .verified
      return isProven && client.pushedAuthorization != .off ? .pass : .refuse(.pushedNotAllowed)
    }
  }

  /// RFC 9126, section 2.1: a pushed request must not refer to another one.
  static var noReferencePushed: Rule {
    Rule(name: "the pushed request has no request_uri") { context in
      context.parameters.contains(.requestURI) ? .refuse(.pushedReference) : .pass
    }
  }
}
