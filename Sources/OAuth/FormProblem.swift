/// The reason why a request to an OAuth endpoint has no single set of parameters to judge.
public enum FormProblem: Sendable, Equatable {
  /// A method that the endpoint does not accept.
  case method
  /// A body that is not a form.
  case bodyType
  /// More than `FormParameters.maximumCount` parameters in the query or the body.
  case tooManyParameters
  /// An authorization request with parameters in both the query and the body, or a GET or HEAD with a body: two readers
  /// could use different ones.
  case split
  /// A request from a client, such as a token request, with OAuth parameters in its URI, which logs and histories keep,
  /// or with a query that has too many parameters.
  case query
}
