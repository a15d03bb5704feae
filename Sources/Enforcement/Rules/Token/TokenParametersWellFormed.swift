import OAuth

extension Rule where Context == TokenContext {
  /// RFC 6749, appendix B; a verifier is never trimmed into shape (RFC 7636, section 4.1).
  static var tokenParametersWellFormed: Rule {
    Rule(name: "every parameter decodes") { context in
      guard let name = context.parameters.malformedNames.first else { return .pass }
      return .refuse(.parameterMalformed, context.request.names.contains(ParameterName(name)) ? .parameter(name) : nil)
    }
  }
}
