import OAuth
import Policy

extension Rule where Context == AuthorizationContext {
  /// RFC 6749, section 4.1.2.1: an unknown client's users are not redirected. The gateway's own identifier at the upstream is
  /// never just unknown, or `unknown_clients: observe` would let any client act as the gateway.
  static var clientKnown: Rule {
    Rule(name: "the client is registered") { context in
      guard context.client == nil else { return .pass }
      guard let id = context.parameters[.clientID] else { return .refuse(.clientIDMissing) }
      return .refuse(context.policy.heldUpstreamIDs.contains(ClientID(id)) ? .clientIDOfUpstream : .clientUnknown)
    }
  }
}
