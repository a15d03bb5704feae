import OAuth
import Policy

// Rules on `state`.

extension Rule where Context == AuthorizationContext {
  /// A state that the gateway sealed belongs to a transaction. A request that continues this transaction is not decided
  /// by this rule, so here the state may be stolen.
  static var stateNotSealed: Rule {
    Rule(name: "state was not sealed by the gateway") { context in
      context.stateIsSealed ? .refuse(.stateForeign) : .pass
    }
  }

  /// RFC 8252, section 8.9. `state` is recommended and not required, because PKCE also binds the response to the
  /// client.
  static var statePresent: Rule {
    Rule(name: "state is present") { context in
      guard let client = context.client, client.state != .off, context.parameters[.state] == nil else { return .pass }
      return client.state == .require ? .refuse(.stateMissing) : .note(.stateMissing)
    }
  }
}
