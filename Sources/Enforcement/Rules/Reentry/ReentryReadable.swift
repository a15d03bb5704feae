import OAuth

extension Rule where Context == ReentryContext {
  /// A body that is no form could hold what the server sees and the gateway does not.
  static var reentryReadable: Rule {
    Rule(name: "every OAuth parameter can be read") { context in
      if context.request.hasUnreadBody || context.request.problem == .tooManyParameters {
        return .refuse(.reentryBody)
      }
      for parameters in context.request.sources {
        if parameters.hasLookAlike || parameters.hasMalformedName {
          return .refuse(.parameterSpelling)
        }
        let malformed = parameters.malformedNames.compactMap { ParameterName($0) }
        if let parameter = malformed.first(where: { ParameterNames.atAuthorization.contains($0) }) {
          return .refuse(.parameterMalformed, .parameter(parameter.text))
        }
      }
      return .pass
    }
  }
}
