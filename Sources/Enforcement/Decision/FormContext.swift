import OAuth
import Policy

/// The facts for rules that apply at several endpoints.
protocol FormContext: Sendable {
  var policy: Policy { get }
  var client: Client? { get }
  var parameters: FormParameters { get }
  /// The parameters that are defined for the endpoint.
  var names: ParameterNames { get }
  /// The scope that is requested; `nil` if the request has no scope, the scope is malformed, or the request is a
  /// redemption of a code, in which a scope has no meaning.
  var requestedScope: Scope? { get }
  /// The reason why two servers could read different parameters in the request; `nil` if there is no such reason.
  var problem: FormProblem? { get }
}
