import OAuth
import Policy

extension Rule where Context == AuthorizationContext {
  /// RFC 6749, section 3.1; `resource` alone may repeat (RFC 8707, section 2). Parameters that mean nothing here are ignored.
  static var parametersOnce: Rule {
    Rule(name: "no other parameter repeats") { context in
      // Repetitions are rare, so they are looked for first.
      for name in context.parameters.repeatedNames {
        let parameter = ParameterName(name)
        let isKnown =
          ParameterNames.atAuthorization.contains(parameter) || context.policy.upstream.parameters.contains(name)
        guard isKnown, !ParameterNames.repeatable.contains(parameter) else { continue }
        return .refuse(.parameterRepeated, .parameter(name))
      }
      return .pass
    }
  }
}
