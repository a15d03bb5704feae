import PathReading
import Policy

extension EndpointMatcher {
  /// A matcher for the upstream's endpoints, without those of the gateway.
  convenience init(endpoints: EndpointPaths, passPrefixes: [String]? = nil, notEndpoints: [String] = []) {
    self.init(
      ownPath: GatewaySettings.ownPath, paths: { endpoints.paths(of: $0) }, passPrefixes: passPrefixes,
      notEndpoints: notEndpoints)
  }
}

extension EndpointPaths {
  fileprivate func paths(of endpoint: Endpoint) -> [String] {
    switch endpoint {
    case .authorization: authorization
    case .token: token
    case .revocation: revocation
    case .introspection: introspection
    case .closed: closed
    default: []
    }
  }
}
