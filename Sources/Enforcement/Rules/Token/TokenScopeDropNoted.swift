import OAuth
import Policy

extension Rule where Context == TokenContext {
  /// RFC 6749, section 3.3. A scope beside a code has no meaning and never goes upstream.
  static var tokenScopeDropNoted: Rule {
    Rule(name: "a scope that does not go upstream is noted") { context in
      guard let client = context.client, context.grant != .authorizationCode else { return .pass }
      let asked = context.parameters[.scope].flatMap { Scope(parsing: $0) }
      let isNarrowed = UpstreamScope(asked, client: client, policy: context.policy, takesDefault: false).isNarrowed
      return isNarrowed ? .note(.scopeDropped) : .pass
    }
  }
}
