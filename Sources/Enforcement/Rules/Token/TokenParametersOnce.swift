import OAuth
import Policy

extension Rule where Context == TokenContext {
  /// RFC 6749, section 3.2; `resource` alone may repeat (RFC 8707, section 2).
  static var tokenParametersOnce: Rule {
    Rule(name: "no parameter repeats") { context in
      let known = context.request.names.union(context.policy.upstream.parameters)
        .subtracting(ParameterNames.repeatable)
      for name in context.parameters.entries.map(\.name) where known.contains(name) {
        if context.parameters.reading(name) == .repeated { return .refuse(.parameterRepeated, .parameter(name)) }
      }
      return .pass
    }
  }
}
