import OAuth

extension Rule where Context == AuthorizationContext {
  /// A state that the gateway sealed belongs to a running transaction and re-enters it, or it has been stolen.
  static var stateIsTheClients: Rule {
    Rule(name: "state is the client's own") { context in
      context.stateIsSealed ? .refuse(.stateForeign) : .pass
    }
  }
}
