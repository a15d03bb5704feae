import OAuth

extension Rule where Context == AuthorizationContext {
  /// Query and body together, or a body that is no form, would let two readers see two requests (RFC 6749, section 3.1).
  static var oneSetOfParameters: Rule {
    Rule(name: "there is one set of parameters") { context in
      switch context.request.problem {
      case .bodyType: .refuse(.bodyType)
      case .tooManyParameters: .refuse(.parametersTooMany)
      case .split: .refuse(.parametersSplit)
      case .method, nil: .pass
      }
    }
  }
}
