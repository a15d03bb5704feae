import OAuth
import Policy

/// The form that a client sends to an endpoint, as the rules see it that are the same for all endpoints.
protocol FormContext: Sendable {
  var policy: Policy { get }
  var client: Client? { get }
  var parameters: FormParameters { get }
  /// The parameters that mean something at the endpoint.
  var names: ParameterNames { get }
  /// The scope that the client asks for; `nil` if there is none, or if it has no meaning or is malformed.
  var askedScope: Scope? { get }
  /// The reason why ``parameters`` are not the one set that both this and another reader would take; `nil` if they are.
  var problem: FormProblem? { get }
}
