import OAuth

extension Rule where Context == TokenContext {
  /// RFC 6749, sections 2.3.1 and 3.2 and appendix B.
  static var tokenBodyIsForm: Rule {
    Rule(name: "the parameters are in a form body") { context in
      switch context.request.problem {
      case .query: .refuse(.tokenParametersInQuery)
      case .bodyType: .refuse(.bodyType)
      case .tooManyParameters: .refuse(.parametersTooMany)
      case .method, nil: .pass
      }
    }
  }
}
