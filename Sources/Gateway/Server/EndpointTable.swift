import Enforcement
import HTTP
import PathReading
import Policy
import Proxy
import Telemetry

/// The properties of one endpoint: its name in the log, its paths, and the handling of its requests.
struct EndpointRow: Sendable {
  enum Handling: Sendable {
    /// The gateway reads the request completely and answers it.
    case answer(@Sendable (InterceptedRequest) async -> Reply)
    /// Like `answer` if the condition is true. Otherwise the gateway forwards the request without reading its body.
    case answerIf(@Sendable (GatewaySnapshot) -> Bool, @Sendable (InterceptedRequest) async -> Reply)
    /// The gateway answers requests if the policy enforces at least one client. Otherwise they pass, and the refusal is
    /// a finding: the upstream's answer would bypass the rules.
    case answerInstead(of: Rejection, @Sendable (InterceptedRequest) async -> Reply)
    /// Requests are refused if the policy enforces at least one client, because the endpoint would bypass the rules.
    /// Otherwise they pass, and the refusal is a finding.
    case refuse(Rejection)
  }

  /// The name in the decision log and the metrics.
  let label: DecisionEndpoint
  /// Returns the endpoint's paths: those in the policy, or the gateway's own paths.
  let paths: @Sendable (Policy) -> [String]
  let handling: Handling
  /// The scripts that may read the responses (`CrossOriginAccess`).
  var scripts = Scripts.none

  /// The scripts of other origins to which an endpoint is open.
  enum Scripts {
    case none
    /// Those of the client of the request.
    case ofClient
    /// Those of all origins in `cors_origins`.
    case ofListedOrigins
  }
}

extension Policy {
  /// The paths at which devices start flows: those of the upstream, or the gateway's own.
  package var deviceAuthorizationPaths: [String] {
    switch devices {
    case .off: []
    case .atGateway: [GatewaySettings.deviceAuthorizationPath]
    case .atUpstream: upstream.endpoints.deviceAuthorization
    }
  }
}

/// The row of each endpoint. The `switch` is exhaustive, so each endpoint must have a row.
///
/// The rules are not in this table: each endpoint calls a function `Enforcement.decide...`, which runs the rules that
/// `RuleTable` lists for that endpoint.
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
        handling: .answer { await TokenEndpoint($0).respond() }, scripts: .ofClient)
    case .revocation:
      EndpointRow(
        label: .revocation, paths: { $0.upstream.endpoints.revocation },
        handling: .answer { await RevocationEndpoint($0).respond() }, scripts: .ofClient)
    case .introspection:
      EndpointRow(
        label: .introspection, paths: { $0.upstream.endpoints.introspection },
        // If the policy enforces no client, the gateway reads the request only to record findings. They are possible
        // only if the gateway holds the upstream secret of a client.
        handling: .answerIf(
          { $0.policy.isEnforcing || !$0.identifiersIfEnforced.idsWithUpstreamSecret.isEmpty },
          { await IntrospectionEndpoint($0).respond() }))
    case .pushedAuthorization:
      EndpointRow(
        label: .pushedAuthorization,
        paths: { $0.acceptsPushedRequests ? $0.upstream.endpoints.pushedAuthorization : [] },
        handling: .answer { await PushedAuthorizationEndpoint($0).respond() }, scripts: .ofClient)
    case .callback:
      EndpointRow(
        label: .callback, paths: { _ in [GatewaySettings.ownPath + "callback"] },
        handling: .answer { .response(await CallbackEndpoint($0).respond()) })
    case .consent:
      EndpointRow(
        label: .consent, paths: { _ in [GatewaySettings.ownPath + "consent"] },
        handling: .answer { .response(await ConsentEndpoint($0).respond()) })
    case .resourceIntrospection:
      EndpointRow(
        label: .introspection,
        paths: { ResourceIntrospectionEndpoint.isOpen($0) ? [ResourceIntrospectionEndpoint.path] : [] },
        handling: .answer { .response(await ResourceIntrospectionEndpoint($0).respond()) })
    case .protectedResource:
      EndpointRow(
        label: .metadata, paths: { ProtectedResources.paths($0) },
        handling: .answer { .response($0.gateway.snapshot.protectedResources.response(to: $0)) })
    case .start:
      // A restart continues as an authorization request, so the log and the metrics count it as one.
      EndpointRow(
        label: .authorization, paths: { _ in [GatewaySettings.ownPath + StartEndpoint.name] },
        handling: .answer { await StartEndpoint($0).respond() })
    case .registration:
      EndpointRow(
        label: .registration, paths: { $0.registration.map { [$0.path] } ?? [] },
        handling: .answer { RegistrationEndpoint($0).respond() }, scripts: .ofListedOrigins)
    case .deviceAuthorization:
      EndpointRow(
        label: .device, paths: { $0.deviceAuthorizationPaths },
        handling: .answer { await DeviceAuthorizationEndpoint($0).respond() }, scripts: .ofClient)
    case .deviceVerification:
      EndpointRow(
        label: .deviceVerification, paths: { $0.devices == .atGateway ? [GatewaySettings.devicePath] : [] },
        handling: .answer { .response(await DeviceVerificationEndpoint($0).respond()) })
    case .deviceQRCode:
      EndpointRow(
        label: .deviceVerification,
        paths: { $0.devices == .atGateway ? [GatewaySettings.ownPath + DeviceQRCodeEndpoint.name] : [] },
        handling: .answer { .response(DeviceQRCodeEndpoint($0).respond()) })
    case .rulePages:
      EndpointRow(
        label: .rulePages, paths: { _ in RulePageEndpoint.paths },
        handling: .answer { .response(RulePageEndpoint($0).respond()) })
    case .otherOwnPath:
      // `EndpointMatcher` returns this endpoint for each path below `ownPath` that no other row lists.
      EndpointRow(
        label: .otherPath, paths: { _ in [] },
        handling: .answer { intercepted in
          intercepted.trail.recordRefusal(.pathNotPassed)
          return .response(
            intercepted.pages.error(ErrorPage(.pathNotPassed), as: ErrorForm(intercepted.request.headers)))
        })
    case .closed:
      // The endpoints of the upstream that the gateway does not support.
      EndpointRow(
        label: .otherPath,
        paths: { policy in
          let endpoints = policy.upstream.endpoints
          // The gateway's own endpoint may have the path of the one that it replaces.
          let own =
            (policy.registration.map { [$0.path] } ?? [])
            + policy.deviceAuthorizationPaths + (policy.devices == .atGateway ? [GatewaySettings.devicePath] : [])
          let closed =
            endpoints.closed + endpoints.deviceAuthorization
            + (policy.acceptsPushedRequests ? [] : endpoints.pushedAuthorization)
          return closed.filter { !own.contains($0) }
        },
        handling: .refuse(.endpointDisabled))
    case .metadata:
      EndpointRow(
        label: .metadata,
        paths: { policy in
          policy.gateway.metadataPaths.filter { !policy.upstream.notEndpoints.contains($0) }
        },
        handling: .answerInstead(of: .metadataBypassesGateway) { .response(await MetadataEndpoint($0).respond()) })
    case .upstreamMetadata:
      // The upstream's own metadata names the endpoints of the upstream. A client that uses them bypasses the gateway.
      EndpointRow(
        label: .otherPath,
        paths: { policy in
          let resources = ProtectedResources.paths(policy)
          let others = policy.upstream.notEndpoints + policy.gateway.metadataPaths + resources
          // A policy that lists resources lists all of them, so the upstream has no metadata of another one.
          let closed = policy.resources.all.isEmpty ? [] : [ProtectedResources.wellKnownPath]
          return (policy.upstream.endpoints.metadataPaths + closed).filter { !others.contains($0) }
        },
        handling: .refuse(.metadataBypassesGateway))
    }
  }
}
