import OAuth
import Policy

// Rules about scope, and about parameters that widen or narrow a token in other ways.

extension Rule where Context: FormContext {
  /// RFC 6749, section 3.3.
  static var scopeWellFormed: Rule {
    Rule(name: "scope is a list of scope tokens") { context in
      guard let scope = context.parameters[.scope], Scope(parsing: scope) == nil else { return .pass }
      return .refuse(.scopeMalformed)
    }
  }

  /// RFC 6749, section 3.3. The app may rely on a scope that the server never sees. A scope with a code has no meaning and
  /// never goes upstream.
  static var scopeDropNoted: Rule {
    Rule(name: "a scope that does not go upstream is noted") { context in
      guard let client = context.client, client.upstream.scopes != nil || context.policy.upstream.scopes != nil else {
        return .pass
      }
      let scope = UpstreamScope(context.askedScope, client: client, policy: context.policy, takesDefault: false)
      return scope.isNarrowed ? .note(.scopeDropped) : .pass
    }
  }

  /// RFC 8707, section 2. Without it the token may be good at more resources than the client asked for.
  static var resourceNoted: Rule {
    Rule(name: "a resource that does not go upstream is noted") { context in
      context.drops(.resource) ? .note(.resourceDropped) : .pass
    }
  }

  /// RFC 9396, sections 2 and 6.
  static var detailsNoted: Rule {
    Rule(name: "authorization details that do not go upstream are noted") { context in
      context.drops(.authorizationDetails) ? .note(.authorizationDetailsDropped) : .pass
    }
  }
}

extension FormContext {
  /// True if the request has the parameter and the list of forwarded parameters does not.
  fileprivate func drops(_ parameter: ParameterName) -> Bool {
    parameters.contains(parameter) && !policy.upstream.parameters.contains(parameter.text)
  }
}

extension Rule where Context == RefreshContext {
  /// RFC 6749, section 6. Where neither request nor answer named a scope, the upstream knows it. A scope that never goes
  /// upstream was never granted there, and asking for it again takes nothing.
  static var refreshScopeWithin: Rule {
    Rule(name: "scope does not grow") { context in
      guard let asked = context.upstreamScope, let granted = context.grant.scope else { return .pass }
      return asked.isWithin(granted) ? .pass : .refuse(.refreshScopeWider)
    }
  }
}

extension Rule where Context == ReentryContext {
  /// `I-reentry`: a consent form may leave out what the user did not tick, and add nothing. Where no scope
  /// went upstream, the server chooses its default (RFC 6749, section 3.3), which the form may carry.
  static var reentryScopeWithin: Rule {
    Rule(name: "scope only narrows") { context in
      guard let sent = context.sentScope else { return .pass }
      let tokens = sent.tokens
      for text in context.request.all(.scope) {
        guard text.split(separator: " ").allSatisfy(tokens.contains) else { return .refuse(.reentryScope) }
      }
      return .pass
    }
  }
}
