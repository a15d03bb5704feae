import OAuth

extension Rule where Context == AuthorizationContext {
  /// A name that nobody can decode, or that some server folds onto another parameter, would let two readers see two requests.
  static var namesMeanOneThing: Rule {
    Rule(name: "every parameter name means one thing") { context in
      if context.parameters.hasMalformedName { return .refuse(.parameterNameMalformed) }
      guard let name = context.parameters.secondRepresentation(of: ParameterNames.atAuthorization) else { return .pass }
      return .refuse(.parameterSpelling, .parameter(name.text))
    }
  }
}
