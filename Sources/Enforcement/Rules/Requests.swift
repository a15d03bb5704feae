import OAuth
import Policy

// Rules that refuse a request that two servers could read differently.

extension Rule where Context: FormContext {
  /// RFC 6749, sections 3.1 and 3.2. The authorization endpoint accepts GET, HEAD and POST. The token endpoint and the
  /// endpoint for pushed requests accept only POST.
  static var methodAllowed: Rule {
    Rule(name: "the endpoint accepts the method", source: "RFC 6749, sections 3.1 and 3.2") { context in
      context.defect == .method ? .refuse(.methodNotAllowed) : .pass
    }
  }

  /// RFC 6749, sections 2.3.1, 3.1 and 3.2, appendix B. Two servers could use different parameters if the query and the
  /// body both have parameters, if there are too many, or if the body is not a form. Only an authorization request may
  /// have its parameters in the query, because URIs are recorded in logs.
  static var oneSetOfParameters: Rule {
    Rule(name: "there is a single set of parameters", source: "RFC 6749, sections 2.3.1, 3.1 and 3.2") { context in
      switch context.defect {
      case .bodyNotForm: .refuse(.bodyNotForm)
      case .tooManyParameters: .refuse(.parametersTooMany)
      case .parametersInQueryAndBody: .refuse(.parametersSplit)
      case .parametersInQuery: .refuse(.tokenParametersInQuery)
      case .method, nil: .pass
      }
    }
  }

  /// Refuses a parameter name that cannot be decoded, and a name that some server maps to an OAuth parameter. The
  /// server could use the value of this parameter, which the gateway does not check.
  static var parameterNamesUnambiguous: Rule {
    Rule(name: "every parameter name means one thing") { context in
      if context.parameters.hasMalformedName { return .refuse(.parameterNameMalformed) }
      guard let name = context.parameters.alternativeSpelling(of: context.definedParameters) else { return .pass }
      return .refuse(.parameterSpelling, .parameter(name.text))
    }
  }

  /// RFC 6749, sections 3.1 and 3.2. Only `resource` may repeat (RFC 8707, section 2). The rule ignores a parameter
  /// that is neither defined for the endpoint nor listed in `upstream.parameters`.
  static var parametersOnce: Rule {
    Rule(name: "no parameter repeats", source: "RFC 6749, sections 3.1 and 3.2") { context in
      // Only the repeated entries are examined; most requests have none.
      for entry in context.parameters.repeatedEntries {
        let isKnown =
          context.definedParameters.contains(entry.parameter) || context.policy.upstream.parameters.contains(entry.name)
        guard isKnown, !ParameterNames.repeatable.contains(entry.parameter) else { continue }
        return .refuse(.parameterRepeated, .parameter(entry.name))
      }
      return .pass
    }
  }

  /// RFC 6749, appendix B. A value with a control character counts as malformed, because no parameter may contain one
  /// (appendix A). The gateway removes nothing to make a value valid (RFC 7636, section 4.1).
  static var parametersWellFormed: Rule {
    Rule(name: "every parameter can be decoded", source: "RFC 6749, appendix B") { context in
      guard let name = context.parameters.namesWithMalformedValue.first else { return .pass }
      // A detail contains no text from the request, so an unknown name is not reported.
      let isKnown = context.definedParameters.contains(ParameterName(name))
      return .refuse(.parameterMalformed, isKnown ? .parameter(name) : nil)
    }
  }
}

// Rules on requests whose parameters are not in the request itself, but in a request object or in a pushed request.

extension Rule where Context == AuthorizationContext {
  /// RFC 9101, sections 5 and 7. The rule also refuses `registration`, a parameter in which a client describes itself
  /// (OpenID Connect Core, section 7.2.1).
  static var noRequestObject: Rule {
    Rule(name: "no request object replaces the parameters", source: "RFC 9101, sections 5 and 7") { context in
      switch (context.parameters.contains(.request), context.parameters.contains(.requestURI)) {
      case (true, true): .refuse(.requestAndRequestURI)
      case (true, false): .refuse(.requestObject)
      case (false, true): .refuse(.requestURI)
      case (false, false): context.parameters.contains(.registration) ? .refuse(.registrationParameter) : .pass
      }
    }
  }

  /// RFC 9126, section 6.
  static var pushedIfRequired: Rule {
    Rule(name: "the request was pushed if the client has to push it", source: "RFC 9126, section 6") { context in
      guard context.client?.pushedAuthorization == .required, !context.isPushed else { return .pass }
      return .refuse(.pushedRequired)
    }
  }
}

extension Rule where Context == TokenContext {
  /// RFC 9126, sections 2 and 2.3. A client whose credentials only the upstream can verify may not push, because the
  /// gateway does not forward pushed requests.
  static var clientMayPush: Rule {
    Rule(name: "the client may push its requests", source: "RFC 9126, sections 2 and 2.3") { context in
      guard let client = context.client else { return .pass }
      let isAcceptable = context.authenticationResult == .publicClient || context.authenticationResult == .verified
      return isAcceptable && client.pushedAuthorization != .off ? .pass : .refuse(.pushedNotAllowed)
    }
  }

  /// RFC 9126, section 2.1: a pushed request must not refer to another one.
  static var noRequestURIPushed: Rule {
    Rule(name: "the pushed request has no request_uri", source: "RFC 9126, section 2.1") { context in
      context.parameters.contains(.requestURI) ? .refuse(.pushedWithRequestURI) : .pass
    }
  }
}
