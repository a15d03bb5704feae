public import OAuth
public import Policy
public import Time

/// Permission to start a device flow (RFC 8628, section 3.1). Only `Enforcement` can create it.
public struct DeviceAuthorizationPermit: Sendable {
  /// The client that starts the flow.
  public let client: Client
  /// The requested scope; `nil` if the request omitted it.
  public let scope: Scope?
  /// The request for the device authorization endpoint of the upstream, if the policy lists one.
  public let upstream: UpstreamTokenRequest?
}

/// A request for the result of a device flow (RFC 8628, section 3.4) that has passed the rules of the token endpoint.
/// Its device code is not decrypted yet.
public struct DevicePoll: Sendable {
  /// The client that sent the request.
  public let client: Client
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
struct DevicePollContext: Sendable {
  let poll: DevicePoll
  let deviceCode: DeviceCode
  let now: UnixTime
}

/// Permission to look up the flow of a poll. Only `Enforcement` can create it.
public struct DevicePollPermit: Sendable {
  /// The content of the device code.
  public let deviceCode: DeviceCode
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
    guard let client = context.client else {
      return DecisionWithFindings(decision: .reject(RejectionResponse(.clientUnidentified)), findings: run.findings)
    }
    let permit = DeviceAuthorizationPermit(
      client: client, scope: context.requestedScope, upstream: upstreamRequest(context, for: client))
    return DecisionWithFindings(decision: .forward(permit), findings: run.findings)
  }

  /// Returns the request for the device authorization endpoint of the upstream; `nil` if the policy lists none.
  ///
  /// The request contains the credentials that the gateway holds, although a public client cannot prove its identity.
  /// The response is no token: the upstream issues one only for the device code, which the gateway seals to the client,
  /// and only after a user has approved it.
  private static func upstreamRequest(_ context: TokenContext, for client: Client) -> UpstreamTokenRequest? {
    guard context.policy.devices == .atUpstream, let authentication = context.authentication else { return nil }
    let scope = UpstreamScope(context.requestedScope, client: client, policy: context.policy, appliesDefault: true)
    var entries = scope.scope.map { [FormParameters.Entry(.scope, $0.text)] } ?? []
    entries += context.policy.allowListed(context.parameters, for: client)
    return UpstreamTokenRequest(
      UpstreamCredentials(client: client, authentication: authentication, isProven: true),
      parameters: context.parameters, entries: entries)
  }

  /// Decides if the user of a browser may sign in for a device flow under the current policy. Returns `nil` if the
  /// policy no longer lists the client, or no longer permits it to use the grant.
  ///
  /// - Parameter flow: The store's record of the flow.
  public static func permitSignIn(for flow: DeviceFlow, policy: Policy) -> AuthorizationPermit? {
    guard let client = policy.clients[flow.clientID], client.grants.contains(.deviceCode) else { return nil }
    return AuthorizationPermit(deviceClient: client, scope: flow.scope, policy: policy)
  }

  /// Decides a poll, as far as possible without the store's record of the flow.
  ///
  /// - Parameters:
  ///   - poll: The request, as ``decideToken(_:policy:holdsSealedValue:)`` returned it.
  ///   - opened: The result of decrypting `poll.deviceCode`.
  ///   - now: The current time.
  public static func decideDevicePoll(
    _ poll: DevicePoll, opened: Opened<DeviceCode>, now: UnixTime
  ) -> DecisionWithFindings<DevicePollPermit> {
    let deviceCode: DeviceCode
    switch opened {
    case .value(let value): deviceCode = value
    case .invalid: return DecisionWithFindings(decision: .reject(RejectionResponse(.deviceCodeUnknown)), findings: [])
    case .keyUnknown:
      return DecisionWithFindings(decision: .reject(RejectionResponse(.sealingKeyUnknown)), findings: [])
    }
    let context = DevicePollContext(poll: poll, deviceCode: deviceCode, now: now)
    var run = RuleRun(mode: .enforce)
    let decision: Decision<DevicePollPermit> =
      switch run.run(RuleTable.devicePoll, on: context) {
      case .refused(let rejection, let detail): .reject(RejectionResponse(rejection, detail: detail))
      case .allowed: .forward(DevicePollPermit(deviceCode: deviceCode, poll: poll))
      }
    return DecisionWithFindings(decision: decision, findings: run.findings)
  }

  /// Returns the permission to send a poll to the upstream; `nil` if the gateway runs the flow.
  ///
  /// - Parameters:
  ///   - permit: The decision of ``decideDevicePoll(_:opened:now:)`` on the poll.
  ///   - policy: The current policy.
  public static func upstreamPoll(_ permit: DevicePollPermit, policy: Policy) -> RedemptionPermit? {
    permit.deviceCode.upstream.map { RedemptionPermit(permit.poll, permit.deviceCode, $0, policy: policy) }
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
    guard code.clientID == poll.client.id, code.upstreamClientID == poll.client.upstream.clientID else {
      return DecisionWithFindings(decision: .reject(RejectionResponse(.codeOutdated)), findings: [])
    }
    let permit = RedemptionPermit(poll.poll, code: code, policy: policy)
    return DecisionWithFindings(decision: .forward(permit), findings: [])
  }
}

extension AuthorizationPermit {
  /// Returns the values of the upstream request for a device flow: its response never leaves the gateway, so the
  /// redirect URI is the gateway's callback, and errors are shown on pages. Returns `nil` if the callback is not a valid
  /// redirect URI.
  convenience init?(deviceClient client: Client, scope: Scope?, policy: Policy) {
    guard let callback = try? RedirectURI(parsing: policy.callback) else { return nil }
    let upstreamScope = UpstreamScope(scope, client: client, policy: policy, appliesDefault: true).scope
    let upstreamRedirectURI = client.upstreamRedirectURI(for: callback, policy)
    var parameters = [
      FormParameters.Entry(.responseType, "code"),
      FormParameters.Entry(.clientID, client.upstream.clientID.rawValue),
      FormParameters.Entry(.redirectURI, upstreamRedirectURI),
    ]
    if let upstreamScope { parameters.append(FormParameters.Entry(.scope, upstreamScope.text)) }
    if client.deviceFreshLogin { parameters.append(FormParameters.Entry(.prompt, "login")) }
    self.init(
      deviceClient: client, redirect: .ofDeviceFlow(to: callback, policy), scope: scope,
      upstreamRedirectURI: upstreamRedirectURI, upstreamUsesPKCE: policy.upstream.usesPKCE, parameters: parameters)
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
