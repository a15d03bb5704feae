import OAuth
import Policy

extension Rule where Context == TokenContext {
  /// RFC 6749, section 3.2; `resource` alone may repeat (RFC 8707, section 2).
  static var tokenParametersOnce: Rule {
    Rule(name: "no parameter repeats") { context in
      // Repetitions are rare, so they are looked for first.
      for entry in context.parameters.repeatedEntries {
        let isKnown =
          context.request.names.contains(entry.parameter) || context.policy.upstream.parameters.contains(entry.name)
        guard isKnown, !ParameterNames.repeatable.contains(entry.parameter) else { continue }
        return .refuse(.parameterRepeated, .parameter(entry.name))
      }
      return .pass
    }
  }
}
