import OAuth
import Policy

// Rules about parameters that arrive in another way than in the request: request objects and pushed requests.

extension Rule where Context == AuthorizationContext {
  /// RFC 9101, sections 5 and 7; OpenID Connect Core, section 7.2.1.
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
    Rule(name: "the request was pushed where it has to be") { context in
      guard context.client?.pushedAuthorization == .required, !context.isPushed else { return .pass }
      return .refuse(.pushedRequired)
    }
  }
}

extension Rule where Context == TokenContext {
  /// RFC 9126, sections 2 and 2.3. The proof of a client that only the upstream can check is none here: the request never
  /// goes there.
  static var clientMayPush: Rule {
    Rule(name: "the client may push its requests") { context in
      guard let client = context.client else { return .pass }
      let isProven = context.proof == .identified || context.proof == .verified
      return isProven && client.pushedAuthorization != .off ? .pass : .refuse(.pushedNotAllowed)
    }
  }

  /// RFC 9126, section 2.1: what is pushed does not itself refer to something.
  static var noReferencePushed: Rule {
    Rule(name: "the pushed request refers to nothing") { context in
      context.parameters.contains(.requestURI) ? .refuse(.pushedReference) : .pass
    }
  }
}
