import OAuth
import Policy

// Rules on the parameters that determine the response: its type, its mode, and `state`.

extension Rule where Context == AuthorizationContext {
  /// RFC 6749, section 3.1.1; RFC 8252, section 8.2; RFC 9700, section 2.1.2. Hybrid types are refused for every
  /// client: the ID token would contain a hash of the upstream code (`c_hash`), which the sealed code does not match.
  static var responseTypeIsCode: Rule {
    Rule(name: "response_type is code", source: "RFC 6749, section 3.1.1") { context in
      guard let type = context.responseType else {
        return .refuse(context.parameters[.responseType] == nil ? .responseTypeMissing : .responseTypeMalformed)
      }
      guard type != .code else { return .pass }
      // If a public native app requests a known type that returns tokens, the error says that such an app may not use
      // this type. In all other cases, the error says that the gateway does not support the type.
      let isNative = context.client?.application == .native && context.client?.kind == .public
      return .refuse(type.isKnown && type.returnsTokens && isNative ? .responseTypeForNative : .responseTypeUnsupported)
    }
  }

  /// OAuth 2.0 Multiple Response Types, section 2.1. The policy must permit the mode to the client, and a response in
  /// this mode must be able to reach the redirect URI.
  static var responseModeAllowed: Rule {
    Rule(name: "the response mode is allowed") { context in
      guard let client = context.client, let text = context.parameters[.responseMode] else { return .pass }
      guard let mode = ResponseMode(rawValue: text), client.responseModes.contains(mode) else {
        return .refuse(.responseModeUnsupported)
      }
      guard let uri = context.redirect.verified, !mode.canReach(uri) else { return .pass }
      return .refuse(.responseModeUnreachable)
    }
  }

  /// A sealed state belongs to a sign-in in progress. A request that continues this sign-in is decided by the rules for
  /// a re-entry. In a new request, a sealed state may be stolen.
  static var stateNotSealed: Rule {
    Rule(name: "state was not sealed by the gateway") { context in
      context.stateIsSealed ? .refuse(.stateSealedForOtherRequest) : .pass
    }
  }

  /// RFC 8252, section 8.9. The RFC only recommends `state`, and PKCE also binds the response to the client. So a
  /// request without `state` is refused only if the client's policy says `state: require`.
  static var statePresent: Rule {
    Rule(name: "state is present", source: "RFC 8252, section 8.9") { context in
      guard let client = context.client, client.state != .off, context.parameters[.state] == nil else { return .pass }
      return client.state == .require ? .refuse(.stateMissing) : .note(.stateMissing)
    }
  }
}
