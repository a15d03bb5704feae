import Enforcement
import HTTP
import Policy
import Proxy
import Telemetry

/// The paths, the log name and the handling of requests to one endpoint.
struct EndpointRow: Sendable {
  enum Handling: Sendable {
    /// The gateway reads the request completely and answers it.
    case answer(@Sendable (InterceptedRequest) async -> Reply)
    /// Like `answer` if the condition holds; otherwise the request passes, because no rule applies to it.
    case answerIf(@Sendable (GatewaySnapshot) -> Bool, @Sendable (InterceptedRequest) async -> Reply)
    /// The endpoint would bypass the enforcement: its requests are refused if the policy enforces a client.
    case refuse(Rejection)
  }

  /// The name in the decision log and the metrics.
  let label: DecisionEndpoint
  /// The endpoint's paths in the policy.
  let paths: @Sendable (Policy) -> [String]
  let handling: Handling
}

/// The row of each endpoint. A case of `Endpoint` without a row does not compile.
///
/// A request is matched with its row once, when its head is routed. The rules of an endpoint are lists in `RuleTable`,
/// which the endpoint's own file names.
extension Endpoint {
  var row: EndpointRow {
    switch self {
    case .authorization:
      EndpointRow(
        label: .authorization, paths: { $0.upstream.endpoints.authorization },
        handling: .answer { await AuthorizationEndpoint($0).respond() })
    case .token:
      EndpointRow(
        label: .token, paths: { $0.upstream.endpoints.token },
        handling: .answer { await TokenEndpoint($0).respond() })
    case .revocation:
      EndpointRow(
        label: .revocation, paths: { $0.upstream.endpoints.revocation },
        handling: .answer { await RevocationEndpoint($0).respond() })
    case .introspection:
      EndpointRow(
        label: .introspection, paths: { $0.upstream.endpoints.introspection },
        // If the policy enforces no client, the request is read only for its findings.
        handling: .answerIf(
          { $0.policy.isEnforcing || !$0.identifiersIfEnforced.held.isEmpty },
          { await IntrospectionEndpoint($0).respond() }))
    case .pushed:
      EndpointRow(
        label: .pushedAuthorization,
        paths: { $0.acceptsPushedRequests ? $0.upstream.endpoints.pushedAuthorization : [] },
        handling: .answer { await PushedAuthorizationEndpoint($0).respond() })
    case .callback:
      EndpointRow(
        label: .callback, paths: { _ in [GatewaySettings.ownPath + "callback"] },
        handling: .answer { .response(await CallbackEndpoint($0).respond()) })
    case .consent:
      EndpointRow(
        label: .consent, paths: { _ in [GatewaySettings.ownPath + "consent"] },
        handling: .answer { .response(await ConsentEndpoint($0).respond()) })
    case .start:
      EndpointRow(
        label: .authorization, paths: { _ in [GatewaySettings.ownPath + StartEndpoint.name] },
        handling: .answer { await StartEndpoint($0).respond() })
    case .own:
      EndpointRow(
        label: .path, paths: { _ in [] },
        handling: .answer { intercepted in
          intercepted.trail.refused(.pathNotPassed)
          return .response(
            intercepted.pages.error(ErrorPage(.pathNotPassed), as: ErrorForm(intercepted.request.headers)))
        })
    case .closed:
      EndpointRow(
        label: .path,
        paths: { policy in
          let endpoints = policy.upstream.endpoints
          return endpoints.closed + (policy.acceptsPushedRequests ? [] : endpoints.pushedAuthorization)
        },
        handling: .refuse(.endpointDisabled))
    case .metadata:
      EndpointRow(
        label: .path,
        paths: { policy in
          policy.upstream.endpoints.metadataPaths.filter { !policy.upstream.notEndpoints.contains($0) }
        },
        handling: .refuse(.metadataLeadsAround))
    }
  }
}
