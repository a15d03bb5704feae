import OAuth
import Policy

extension Rule where Context == AuthorizationContext {
  /// OAuth 2.0 Multiple Response Types, section 2.1: a mode that is off would hide the answer from the gateway or lose it.
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
