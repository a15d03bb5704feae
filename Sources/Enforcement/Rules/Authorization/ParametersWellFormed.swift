import OAuth

extension Rule where Context == AuthorizationContext {
  /// RFC 6749, appendix B. A control character counts as broken: nothing of the field may hold one (appendix A).
  static var parametersWellFormed: Rule {
    Rule(name: "every parameter decodes") { context in
      guard let name = context.parameters.malformedNames.first else { return .pass }
      let isKnown = ParameterNames.atAuthorization.contains(ParameterName(name))
      return .refuse(.parameterMalformed, isKnown ? .parameter(name) : nil)
    }
  }
}
