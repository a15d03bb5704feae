import OAuth
import Policy

extension Rule where Context == TokenContext {
  /// RFC 6749, section 3.2; `resource` alone may repeat (RFC 8707, section 2).
  static var tokenParametersOnce: Rule {
    Rule(name: "no parameter repeats") { context in
      // Repetitions are rare, so they are looked for first.
      for name in context.parameters.repeatedNames {
        let parameter = ParameterName(name)
        let isKnown = context.request.names.contains(parameter) || context.policy.upstream.parameters.contains(name)
        guard isKnown, !ParameterNames.repeatable.contains(parameter) else { continue }
        return .refuse(.parameterRepeated, .parameter(name))
      }
      return .pass
    }
  }
}
