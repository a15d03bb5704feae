import OAuth
import Policy

// Rules on `state`.

extension Rule where Context == AuthorizationContext {
  /// A state that the gateway sealed either belongs to a running transaction, which it re-enters, or was stolen.
  static var stateIsTheClients: Rule {
    Rule(name: "state was not sealed by the gateway") { context in
      context.stateIsSealed ? .refuse(.stateForeign) : .pass
    }
  }

  /// RFC 8252, section 8.9: `state` is recommended; PKCE binds the response to the client as well.
  static var statePresent: Rule {
    Rule(name: "state is present") { context in
      guard let client = context.client, client.state != .off, context.parameters[.state] == nil else { return .pass }
      return client.state == .require ? .refuse(.stateMissing) : .note(.stateMissing)
    }
  }
}
