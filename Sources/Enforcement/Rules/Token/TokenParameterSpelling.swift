import OAuth

extension Rule where Context == TokenContext {
  /// A name that nobody can decode, or that some server folds onto another parameter, would let two readers see two requests.
  static var tokenNamesMeanOneThing: Rule {
    Rule(name: "every parameter name means one thing") { context in
      if context.parameters.hasMalformedName { return .refuse(.parameterNameMalformed) }
      guard let name = context.parameters.secondRepresentation(of: context.request.names) else { return .pass }
      return .refuse(.parameterSpelling, .parameter(name.text))
    }
  }
}
