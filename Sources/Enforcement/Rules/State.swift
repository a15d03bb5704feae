import OAuth
import Policy

// Rules about `state`.

extension Rule where Context == AuthorizationContext {
  /// A state that the gateway sealed belongs to a running transaction and re-enters it, or it has been stolen.
  static var stateIsTheClients: Rule {
    Rule(name: "state is the client's own") { context in
      context.stateIsSealed ? .refuse(.stateForeign) : .pass
    }
  }

  /// RFC 8252, section 8.9: recommended; PKCE binds the answer as well.
  static var statePresent: Rule {
    Rule(name: "there is a state") { context in
      guard let client = context.client, client.state != .off, context.parameters[.state] == nil else { return .pass }
      return client.state == .require ? .refuse(.stateMissing) : .note(.stateMissing)
    }
  }
}
