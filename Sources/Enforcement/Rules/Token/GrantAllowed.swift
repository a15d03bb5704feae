import OAuth
import Policy

extension Rule where Context == TokenContext {
  /// RFC 6749, section 5.2. Client credentials go upstream only as the client's own: the gateway lends it none for them
  /// (`I-credentials`), and a secret of the gateway's never goes there.
  static var grantAllowed: Rule {
    Rule(name: "the client may use the grant") { context in
      guard let client = context.client, let grant = context.grant, grant != .password else { return .pass }
      guard client.grants.contains(grant) else { return .refuse(.grantNotAllowed) }
      let lacksCredentials = grant == .clientCredentials && !client.presentsUpstreamCredentials
      return lacksCredentials ? .refuse(.grantNotAllowed) : .pass
    }
  }
}
