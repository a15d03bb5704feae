/// The reason why a request to an OAuth endpoint has no single set of parameters.
public enum FormProblem: Sendable, Equatable {
  /// The endpoint does not accept the method.
  case method
  /// The body is not a form.
  case bodyType
  /// The query or the body has more than `FormParameters.maximumCount` parameters.
  case tooManyParameters
  /// An authorization request has parameters in both the query and the body, or is a GET or HEAD with a body. Two
  /// servers could use different parameters.
  case split
  /// A request that a client sends, such as a token request, has OAuth parameters or too many parameters in its URI,
  /// which is recorded in logs.
  case query
}
