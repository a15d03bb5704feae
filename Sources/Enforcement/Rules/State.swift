import OAuth
import Policy

// Rules on `state`.

extension Rule where Context == AuthorizationContext {
  /// A sealed state belongs to a sign-in in progress. A request that continues this sign-in is decided by the rules for
  /// a re-entry. In a new request, a sealed state may be stolen.
  static var stateNotSealed: Rule {
    Rule(name: "state was not sealed by the gateway") { context in
      context.stateIsSealed ? .refuse(.stateForeign) : .pass
    }
  }

  /// RFC 8252, section 8.9. `state` is recommended but not required, because PKCE also binds the response to the
  /// client.
  static var statePresent: Rule {
    Rule(name: "state is present") { context in
      guard let client = context.client, client.state != .off, context.parameters[.state] == nil else { return .pass }
      return client.state == .require ? .refuse(.stateMissing) : .note(.stateMissing)
    }
  }
}
