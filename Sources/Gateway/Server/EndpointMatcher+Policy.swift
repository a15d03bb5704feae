import Enforcement
public import PathReading
public import Policy
import Telemetry

extension EndpointMatcher {
  /// Creates the matcher of a gateway with this policy.
  public convenience init(_ policy: Policy) {
    self.init(
      ownPath: GatewaySettings.ownPath, paths: { $0.row.paths(policy) },
      passPrefixes: policy.upstream.passPrefixes == UpstreamSettings.everyPath ? nil : policy.upstream.passPrefixes,
      notEndpoints: policy.upstream.notEndpoints, signInPages: policy.upstream.completionPaths)
  }
}

extension Endpoint {
  /// The name of the endpoint in the decision log and the metrics.
  public var nameInLog: String { row.label.rawValue }

  /// The refusal of requests for a closed endpoint; `nil` for an endpoint that the gateway serves.
  package var closedWith: Rejection? {
    guard case .refuse(let rejection) = row.handling else { return nil }
    return rejection
  }
}
