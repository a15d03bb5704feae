import OAuth
import Policy

extension Rule where Context == AuthorizationContext {
  /// RFC 6749, section 3.3. The app may rely on a scope that the server never sees.
  static var scopeDropNoted: Rule {
    Rule(name: "a scope that does not go upstream is noted") { context in
      guard let client = context.client else { return .pass }
      let asked = context.parameters[.scope].flatMap { Scope(parsing: $0) }
      let isNarrowed = UpstreamScope(asked, client: client, policy: context.policy, takesDefault: false).isNarrowed
      return isNarrowed ? .note(.scopeDropped) : .pass
    }
  }
}
