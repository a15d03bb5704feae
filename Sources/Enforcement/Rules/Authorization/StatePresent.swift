import OAuth
import Policy

extension Rule where Context == AuthorizationContext {
  /// RFC 8252, section 8.9: recommended; PKCE binds the answer as well.
  static var statePresent: Rule {
    Rule(name: "there is a state") { context in
      guard let client = context.client, client.state != .off, context.parameters[.state] == nil else { return .pass }
      return client.state == .require ? .refuse(.stateMissing) : .note(.stateMissing)
    }
  }
}
