import OAuth
import Policy

extension Rule where Context == AuthorizationContext {
  /// RFC 8707, section 2.1. Without it the token may be good at more resources than the client asked for.
  static var resourceNoted: Rule {
    Rule(name: "a resource that does not go upstream is noted") { context in
      context.policy.drops(.resource, of: context.parameters) ? .note(.resourceDropped) : .pass
    }
  }

  /// RFC 9396, section 2.
  static var detailsNoted: Rule {
    Rule(name: "authorization details that do not go upstream are noted") { context in
      context.policy.drops(.authorizationDetails, of: context.parameters) ? .note(.authorizationDetailsDropped) : .pass
    }
  }
}

extension Policy {
  /// True if a request has the parameter and the list of forwarded parameters does not.
  func drops(_ parameter: ParameterName, of parameters: FormParameters) -> Bool {
    parameters.contains(parameter) && !upstream.parameters.contains(parameter.text)
  }
}
