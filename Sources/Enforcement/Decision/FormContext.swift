import OAuth
import Policy

/// The part of a request that rules shared by several endpoints need.
protocol FormContext: Sendable {
  var policy: Policy { get }
  var client: Client? { get }
  var parameters: FormParameters { get }
  /// The parameters that have a meaning at the endpoint.
  var names: ParameterNames { get }
  /// The requested scope; `nil` if the request has none, or if it has no meaning there or is malformed.
  var askedScope: Scope? { get }
  /// The reason why another reader could see other values than ``parameters``; `nil` if each reader sees the same.
  var problem: FormProblem? { get }
}
