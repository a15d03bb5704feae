import OAuth
import Policy

// Rules on the type and the mode of the requested authorization response.

extension Rule where Context == AuthorizationContext {
  /// RFC 6749, section 3.1.1; RFC 8252, section 8.2; RFC 9700, section 2.1.2. Hybrid types are refused for every
  /// client: sealing the code breaks `c_hash`.
  static var responseTypeIsCode: Rule {
    Rule(name: "response_type is code") { context in
      guard let type = context.responseType else {
        return .refuse(context.parameters[.responseType] == nil ? .responseTypeMissing : .responseTypeMalformed)
      }
      guard type != .code else { return .pass }
      // For a public native app, the error says that it may not use the type; for other clients, that no client may.
      let isNative = context.client?.application == .native && context.client?.kind == .public
      return .refuse(type.isKnown && type.returnsTokens && isNative ? .responseTypeForNative : .responseTypeUnsupported)
    }
  }

  /// OAuth 2.0 Multiple Response Types, section 2.1: a disabled mode would hide the response from the gateway or lose
  /// it.
  static var responseModeAllowed: Rule {
    Rule(name: "the response mode is allowed") { context in
      guard let client = context.client, let text = context.parameters[.responseMode] else { return .pass }
      guard let mode = ResponseMode(rawValue: text), client.responseModes.contains(mode) else {
        return .refuse(.responseModeUnsupported)
      }
      guard let uri = context.redirect.verified, !mode.reaches(uri) else { return .pass }
      return .refuse(.responseModeUnreachable)
    }
  }
}
