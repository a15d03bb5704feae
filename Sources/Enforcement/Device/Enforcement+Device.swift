public import OAuth
public import Policy
public import Time

/// Permission to start a device flow (RFC 8628, section 3.1). Only `Enforcement` can create it.
public struct DeviceAuthorizationPermit: Sendable {
  /// The client that starts the flow, as it acts for the resource.
  public let client: Client
  /// The requested scope; `nil` if the request omitted it.
  public let scope: Scope?
  /// The requested resource (RFC 8707); `nil` if the request names none, or if the policy lists no resources.
  public let resource: Resource?
  /// The request for the device authorization endpoint of the upstream, if the policy lists one.
  public let upstream: UpstreamTokenRequest?
}

/// A request for the result of a device flow (RFC 8628, section 3.4) that has passed the rules of the token endpoint.
/// Its device code is not decrypted yet.
public struct DevicePoll: Sendable {
  /// The client that sent the request. After the device code has been decrypted, the client as it acts for the resource
  /// of the flow.
  public internal(set) var client: Client
  /// The device code as presented.
  public let deviceCode: Secret
  let authentication: ClientAuthentication
  let parameters: FormParameters

  /// The credentials of the request that redeems the code. The device code, which is sealed to the client, proves the
  /// identity of the client.
  var credentials: UpstreamCredentials {
    UpstreamCredentials(client: client, authentication: authentication, isProven: true)
  }
}

/// The facts for the rules on a poll, after the gateway has decrypted the device code.
struct DevicePollContext: ResourceContext {
  let poll: DevicePoll
  let deviceCode: DeviceCode
  let requestedResource: RequestedResource
  /// The resource of the flow in the current policy; `nil` if it has none, or if the policy no longer lists it.
  let resource: Resource?
  let now: UnixTime

  var grantedResource: String? { deviceCode.resource }
}

/// Permission to look up the flow of a poll. Only `Enforcement` can create it.
public struct DevicePollPermit: Sendable {
  /// The content of the device code.
  public let deviceCode: DeviceCode
  /// The resource of the flow; `nil` if it has none.
  let resource: Resource?
  let poll: DevicePoll

  /// The client of the flow.
  public var client: Client { poll.client }
  /// The device code as presented.
  public var presentedCode: Secret { poll.deviceCode }
  /// A request with nothing but the credentials that the upstream gets for this poll. Perhaps only the upstream can
  /// compare them, so a repeated poll gets a kept response only with the same credentials as the first one.
  public var credentialsForUpstream: UpstreamTokenRequest {
    UpstreamTokenRequest(poll.credentials, parameters: poll.parameters, entries: [])
  }
}

extension Enforcement {
  /// Decides a device authorization request. The client is authenticated as at the token endpoint. The request is
  /// enforced in every mode. If the upstream has the endpoint, the caller passes observed requests.
  ///
  /// - Parameters:
  ///   - request: The request, parsed with `ParameterNames.atDeviceAuthorization`.
  ///   - policy: The current policy.
  public static func decideDeviceAuthorization(
    _ request: TokenRequest, policy: Policy
  ) -> DecisionWithFindings<DeviceAuthorizationPermit> {
    let context = TokenContext(request: request, policy: policy)
    var run = RuleRun(mode: .enforce)
    if case .refused(let rejection, let detail) = run.run(RuleTable.device, on: context) {
      return DecisionWithFindings(
        decision: .reject(RejectionResponse(rejection, detail: detail)), findings: run.findings)
    }
    let resource = context.requestedResource.resource
    guard let client = context.client?.acting(for: resource) else {
      return DecisionWithFindings(decision: .reject(RejectionResponse(.clientUnidentified)), findings: run.findings)
    }
    let permit = DeviceAuthorizationPermit(
      client: client, scope: context.requestedScope, resource: resource,
      upstream: upstreamRequest(context, for: client, resource))
    return DecisionWithFindings(decision: .forward(permit), findings: run.findings)
  }

  /// Returns the request for the device authorization endpoint of the upstream; `nil` if the policy lists none.
  ///
  /// The request contains the credentials that the gateway holds, although a public client cannot prove its identity.
  /// The response is no token: the upstream issues one only for the device code, which the gateway seals to the client,
  /// and only after a user has approved it.
  private static func upstreamRequest(
    _ context: TokenContext, for client: Client, _ resource: Resource?
  ) -> UpstreamTokenRequest? {
    guard context.policy.devices == .atUpstream, let authentication = context.authentication else { return nil }
    let scope = UpstreamScope(context.requestedScope, client: client, policy: context.policy, appliesDefault: true)
    var entries = scope.scopeOfSignIn(for: resource).map { [FormParameters.Entry(.scope, $0.text)] } ?? []
    // The server decides on the audience of the token when the user approves this request.
    if let resource { entries += resource.upstreamEntries(sendsAudience: true) }
    entries += context.policy.allowListed(context.parameters, for: client)
    return UpstreamTokenRequest(
      UpstreamCredentials(client: client, authentication: authentication, isProven: true),
      parameters: context.parameters, entries: entries)
  }

  /// Decides if the user of a browser may sign in for a device flow under the current policy. Returns `nil` if the
  /// policy no longer lists the client or the resource, or no longer permits the client to use the grant.
  ///
  /// - Parameter flow: The store's record of the flow.
  public static func permitSignIn(for flow: DeviceFlow, policy: Policy) -> AuthorizationPermit? {
    let resource = flow.resource.flatMap { policy.resources[$0] }
    guard let client = policy.clients[flow.clientID], client.grants.contains(.deviceCode),
      flow.resource == nil || resource?.permits(client) == true
    else { return nil }
    return AuthorizationPermit(
      deviceClient: client.acting(for: resource), scope: flow.scope, resource: resource, policy: policy)
  }

  /// Decides a poll, as far as possible without the store's record of the flow.
  ///
  /// - Parameters:
  ///   - poll: The request, as ``decideToken(_:policy:holdsSealedValue:)`` returned it.
  ///   - opened: The result of decrypting `poll.deviceCode`.
  ///   - policy: The current policy.
  ///   - now: The current time.
  public static func decideDevicePoll(
    _ poll: DevicePoll, opened: Opened<DeviceCode>, policy: Policy, now: UnixTime
  ) -> DecisionWithFindings<DevicePollPermit> {
    let deviceCode: DeviceCode
    switch opened {
    case .value(let value): deviceCode = value
    case .invalid: return DecisionWithFindings(decision: .reject(RejectionResponse(.deviceCodeUnknown)), findings: [])
    case .keyUnknown:
      return DecisionWithFindings(decision: .reject(RejectionResponse(.sealingKeyUnknown)), findings: [])
    }
    let resource = deviceCode.resource.flatMap { policy.resources[$0] }
    var poll = poll
    poll.client = poll.client.acting(for: resource)
    let context = DevicePollContext(
      poll: poll, deviceCode: deviceCode, requestedResource: RequestedResource(poll.parameters, policy),
      resource: resource, now: now)
    var run = RuleRun(mode: .enforce)
    let decision: Decision<DevicePollPermit> =
      switch run.run(RuleTable.devicePoll, on: context) {
      case .refused(let rejection, let detail): .reject(RejectionResponse(rejection, detail: detail))
      case .allowed: .forward(DevicePollPermit(deviceCode: deviceCode, resource: resource, poll: poll))
      }
    return DecisionWithFindings(decision: decision, findings: run.findings)
  }

  /// Returns the permission to send a poll to the upstream; `nil` if the gateway runs the flow.
  ///
  /// - Parameters:
  ///   - permit: The decision of ``decideDevicePoll(_:opened:policy:now:)`` on the poll.
  ///   - policy: The current policy.
  public static func upstreamPoll(_ permit: DevicePollPermit, policy: Policy) -> RedemptionPermit? {
    permit.deviceCode.upstream.map { RedemptionPermit(permit, $0, policy: policy) }
  }

  /// Decides the redemption of the upstream code that the user has approved.
  ///
  /// - Parameters:
  ///   - poll: The decision on the poll, which has compared its client with that of the flow.
  ///   - code: The approved code.
  ///   - policy: The current policy.
  public static func decideDeviceRedemption(
    _ poll: DevicePollPermit, code: IssuedCode, policy: Policy
  ) -> DecisionWithFindings<RedemptionPermit> {
    // The gateway uses an upstream secret only for codes that were issued to the upstream id that the client has now
    // (invariant `I-credentials`).
    guard code.clientID == poll.client.id, code.upstreamClientID == poll.client.upstream.clientID,
      code.resource == poll.deviceCode.resource
    else {
      return DecisionWithFindings(decision: .reject(RejectionResponse(.codeOutdated)), findings: [])
    }
    let permit = RedemptionPermit(poll, code: code, policy: policy)
    return DecisionWithFindings(decision: .forward(permit), findings: [])
  }
}

extension AuthorizationPermit {
  /// Returns the values of the upstream request for a device flow: its response never leaves the gateway, so the
  /// redirect URI is the gateway's callback, and errors are shown on pages. Returns `nil` if the callback is not a valid
  /// redirect URI.
  convenience init?(deviceClient client: Client, scope: Scope?, resource: Resource?, policy: Policy) {
    guard let callback = try? RedirectURI(parsing: policy.callback) else { return nil }
    let upstreamScope = UpstreamScope(scope, client: client, policy: policy, appliesDefault: true)
      .scopeOfSignIn(for: resource)
    let upstreamRedirectURI = client.upstreamRedirectURI(for: callback, policy)
    var parameters = [
      FormParameters.Entry(.responseType, "code"),
      FormParameters.Entry(.clientID, client.upstream.clientID.rawValue),
      FormParameters.Entry(.redirectURI, upstreamRedirectURI),
    ]
    if let upstreamScope { parameters.append(FormParameters.Entry(.scope, upstreamScope.text)) }
    if let resource { parameters += resource.upstreamEntries(sendsAudience: true) }
    if client.deviceFreshLogin { parameters.append(FormParameters.Entry(.prompt, "login")) }
    self.init(
      deviceClient: client, redirect: .ofDeviceFlow(to: callback, policy), scope: scope, upstreamScope: upstreamScope,
      resource: resource, upstreamRedirectURI: upstreamRedirectURI, upstreamUsesPKCE: policy.upstream.usesPKCE,
      parameters: parameters)
  }
}

extension VerifiedRedirect {
  /// Returns the destination of the responses of a device flow. Errors are always shown on a page.
  static func ofDeviceFlow(to callback: RedirectURI, _ policy: Policy) -> VerifiedRedirect {
    VerifiedRedirect(
      redirectURI: callback, mode: .query, state: nil, issuer: policy.gateway.issuer, rulesURL: policy.gateway.rulesURL,
      isUntrusted: true,
      isRestarted: true)
  }
}
