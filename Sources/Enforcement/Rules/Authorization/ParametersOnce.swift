import OAuth
import Policy

extension Rule where Context == AuthorizationContext {
  /// RFC 6749, section 3.1; `resource` alone may repeat (RFC 8707, section 2). Parameters that mean nothing here are ignored.
  static var parametersOnce: Rule {
    Rule(name: "no other parameter repeats") { context in
      let known = ParameterNames.atAuthorization.union(context.policy.upstream.parameters)
        .subtracting(ParameterNames.repeatable)
      for name in context.parameters.entries.map(\.name) where known.contains(name) {
        if context.parameters.reading(name) == .repeated { return .refuse(.parameterRepeated, .parameter(name)) }
      }
      return .pass
    }
  }
}
