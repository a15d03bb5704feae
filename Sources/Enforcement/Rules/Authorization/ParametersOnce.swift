import OAuth
import Policy

extension Rule where Context == AuthorizationContext {
  /// RFC 6749, section 3.1; `resource` alone may repeat (RFC 8707, section 2). Parameters that mean nothing here are ignored.
  static var parametersOnce: Rule {
    Rule(name: "no other parameter repeats") { context in
      // Repetitions are rare, so they are looked for first.
      for entry in context.parameters.repeatedEntries {
        let isKnown =
          ParameterNames.atAuthorization.contains(entry.parameter)
          || context.policy.upstream.parameters.contains(entry.name)
        guard isKnown, !ParameterNames.repeatable.contains(entry.parameter) else { continue }
        return .refuse(.parameterRepeated, .parameter(entry.name))
      }
      return .pass
    }
  }
}
