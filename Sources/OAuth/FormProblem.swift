/// The reason why a request to an OAuth endpoint has no one set of parameters to judge.
public enum FormProblem: Sendable, Equatable {
  /// A method that the endpoint does not take.
  case method
  /// A body that is not a form.
  case bodyType
  case tooManyParameters
  /// The query and the body of an authorization request both have parameters, so that two readers could take different ones.
  case split
  /// A token request with OAuth parameters in its URI, where logs and histories keep them.
  case query
}
