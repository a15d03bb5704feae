import OAuth
import Policy

// Rules that give a request one meaning: a request that two readers could understand differently is refused.

extension Rule where Context: FormContext {
  /// RFC 6749, sections 3.1 and 3.2: the authorization endpoint accepts GET, HEAD and POST, every other endpoint only
  /// POST.
  static var methodAllowed: Rule {
    Rule(name: "the endpoint accepts the method") { context in
      context.problem == .method ? .refuse(.methodNotAllowed) : .pass
    }
  }

  /// Parameters in both the query and the body, or a body that is not a form, would let two readers see two requests
  /// (RFC 6749, sections 2.3.1, 3.1 and 3.2, appendix B).
  static var oneSetOfParameters: Rule {
    Rule(name: "there is a single set of parameters") { context in
      switch context.problem {
      case .bodyType: .refuse(.bodyType)
      case .tooManyParameters: .refuse(.parametersTooMany)
      case .split: .refuse(.parametersSplit)
      case .query: .refuse(.tokenParametersInQuery)
      case .method, nil: .pass
      }
    }
  }

  /// A name that cannot be decoded, or that some server maps to another parameter, would let two readers see two
  /// requests.
  static var namesMeanOneThing: Rule {
    Rule(name: "every parameter name means one thing") { context in
      if context.parameters.hasMalformedName { return .refuse(.parameterNameMalformed) }
      guard let name = context.parameters.secondRepresentation(of: context.names) else { return .pass }
      return .refuse(.parameterSpelling, .parameter(name.text))
    }
  }

  /// RFC 6749, sections 3.1 and 3.2; only `resource` may repeat (RFC 8707, section 2). Parameters without a meaning at
  /// the endpoint are ignored unless `upstream.parameters` lists them.
  static var parametersOnce: Rule {
    Rule(name: "no parameter repeats") { context in
      // Repetitions are rare, so only repeated entries are examined.
      for entry in context.parameters.repeatedEntries {
        let isKnown =
          context.names.contains(entry.parameter) || context.policy.upstream.parameters.contains(entry.name)
        guard isKnown, !ParameterNames.repeatable.contains(entry.parameter) else { continue }
        return .refuse(.parameterRepeated, .parameter(entry.name))
      }
      return .pass
    }
  }

  /// RFC 6749, appendix B. A control character counts as malformed: no parameter may contain one (appendix A). A
  /// verifier is never trimmed to make it valid (RFC 7636, section 4.1).
  static var parametersWellFormed: Rule {
    Rule(name: "every parameter can be decoded") { context in
      guard let name = context.parameters.malformedNames.first else { return .pass }
      return .refuse(.parameterMalformed, context.names.contains(ParameterName(name)) ? .parameter(name) : nil)
    }
  }
}
