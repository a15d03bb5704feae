public import OAuth
public import Policy
public import Time

/// A request to redeem a code.
public struct RedemptionRequest: Sendable {
  /// The client that sent the request. After the code has been decrypted, the client as it acts for the resource of the
  /// code.
  public internal(set) var client: Client
  /// The code as presented.
  public let code: Secret
  let redirectURI: String?
  /// The verifier; `nil` if the request has none, or a malformed one.
  let verifier: CodeVerifier?
  /// True if the request contains `code_verifier`, even a malformed one.
  let verifierWasSent: Bool
  let authentication: ClientAuthentication
  /// True if the gateway has compared the presented client secret, and the secret was right.
  let clientSecretIsVerified: Bool
  let parameters: FormParameters
}

/// The facts for the rules on a redemption, after the gateway has decrypted the code.
struct RedemptionContext: ResourceContext {
  let request: RedemptionRequest
  let code: IssuedCode
  let requestedResource: RequestedResource
  /// The resource of the code in the current policy; `nil` if it has none, or if the policy no longer lists it.
  let resource: Resource?
  let now: UnixTime

  var grantedResource: String? { code.resource }
}

/// Permission to redeem the upstream code. Only `Enforcement` can create it. Before the caller contacts the upstream,
/// the caller must record in the store, under the id ``claimID``, that the code is used.
public final class RedemptionPermit: Sendable {
  /// The client that redeems the code.
  public let client: Client
  /// The value that is redeemed at the upstream.
  public let redeemed: Redeemed
  /// The client of the value, and the scope that it requested.
  public let binding: ClientBinding
  /// The time at which the value expires.
  public let expiry: UnixTime
  /// The epoch of the store when the value was sealed.
  public let epoch: EpochID
  /// The browser that received the code of the upstream, and its network; `nil` for a device code of the upstream.
  public let origin: SignInOrigin?
  /// The verifier that the client presented; `nil` for a code without a challenge.
  public let verifier: Secret?
  /// The token request to the upstream.
  public let upstream: UpstreamTokenRequest
  /// True if the gateway seals the refresh token of the response to the client. The gateway seals the token of a public
  /// client. The gateway also seals the token if the request to the upstream contains credentials that the gateway
  /// holds, because the client cannot use the upstream's refresh token without these credentials, and if the code has a
  /// resource, which the sealed token contains. The exception is an
  /// observed client that can refresh at the upstream by itself: this client gets the upstream's own token, because a
  /// client that is set to `observe` must get no further sealed tokens (invariant `I-observe`).
  public let sealsRefreshToken: Bool
  /// The client and the resource of the access token.
  public let target: AccessTokenTarget
  private let credentials: UpstreamCredentials
  private let parameters: FormParameters

  /// The kinds of values that are redeemed at the upstream.
  public enum Redeemed: Sendable {
    /// The code that the client presented.
    case code
    /// The code that a user approved for a device (RFC 8628).
    case codeOfDevice
    /// The device code of the upstream, which runs the flow. The upstream answers that the user has not decided yet as
    /// long as this is the case.
    case deviceCode
  }

  convenience init(_ context: RedemptionContext, policy: Policy) {
    let request = context.request
    self.init(
      .code, entries: RedemptionPermit.entries(of: context.code), digest: context.code.digest,
      transaction: context.code.transactionID, binding: context.code.binding.client.issued(to: request.client.id),
      expiry: context.code.expiry,
      epoch: context.code.epoch, origin: context.code.origin, hiding: RedemptionPermit.hiddenValues(of: context.code),
      client: request.client, verifier: request.verifier?.secret, parameters: request.parameters,
      // If the code has a challenge, the rules have compared the verifier with it.
      UpstreamCredentials(
        client: request.client, authentication: request.authentication,
        isProven: request.clientSecretIsVerified || context.code.challenge != nil),
      authentication: request.authentication, resource: context.resource, policy: policy)
  }

  /// Creates the permit for a poll that redeems the code which the user approved.
  convenience init(_ permit: DevicePollPermit, code: IssuedCode, policy: Policy) {
    let poll = permit.poll
    self.init(
      .codeOfDevice, entries: RedemptionPermit.entries(of: code), digest: code.digest,
      transaction: code.transactionID, binding: code.binding.client, expiry: code.expiry, epoch: code.epoch,
      origin: code.origin, hiding: RedemptionPermit.hiddenValues(of: code), client: poll.client, verifier: nil,
      parameters: poll.parameters,
      poll.credentials, authentication: poll.authentication, resource: permit.resource, policy: policy)
  }

  /// Creates the permit for a poll that the upstream answers.
  convenience init(_ permit: DevicePollPermit, _ upstream: UpstreamDeviceCode, policy: Policy) {
    let (poll, deviceCode) = (permit.poll, permit.deviceCode)
    var binding = ClientBinding(
      clientID: deviceCode.clientID, scope: upstream.scope, upstreamClientID: upstream.upstreamClientID,
      resource: permit.resource?.uri.text)
    binding.upstreamAddress = upstream.upstreamAddress
    self.init(
      .deviceCode,
      entries: [
        FormParameters.Entry(.grantType, GrantType.deviceCode.rawValue),
        FormParameters.Entry(.deviceCode, upstream.code.reveal()),
      ], digest: upstream.digest, transaction: deviceCode.flow,
      binding: binding, expiry: deviceCode.expiry, epoch: upstream.epoch, origin: nil, hiding: [upstream.code],
      client: poll.client, verifier: nil, parameters: poll.parameters,
      poll.credentials, authentication: poll.authentication, resource: permit.resource, policy: policy)
  }

  private init(
    _ redeemed: Redeemed, entries: [FormParameters.Entry], digest: UpstreamCodeDigest, transaction: TransactionID,
    binding: ClientBinding, expiry: UnixTime, epoch: EpochID, origin: SignInOrigin?, hiding hiddenValues: [Secret],
    client: Client, verifier: Secret?, parameters: FormParameters, _ credentials: UpstreamCredentials,
    authentication: ClientAuthentication, resource: Resource?, policy: Policy
  ) {
    self.redeemed = redeemed
    self.binding = binding
    self.expiry = expiry
    self.epoch = epoch
    self.origin = origin
    self.client = client
    self.verifier = verifier
    self.parameters = parameters
    self.credentials = credentials
    // The digest of the upstream code, not of the sealed code that the client presented.
    claimID = TransactionID(ofClaimOn: digest)
    family = TransactionID(ofLoginWith: digest, in: transaction)
    target = AccessTokenTarget(
      client: client, resource: resource, scope: binding.scope, login: binding.scope, family: family,
      document: binding.document, policy: policy)
    sealsRefreshToken =
      (client.kind == .public || client.isUnlisted || credentials.isHeld || resource != nil)
      && !client.canRefreshAtUpstream(with: authentication)
    var entries = entries
    if let resource { entries += resource.upstreamEntries(sendsAudience: false) }
    entries += policy.allowListed(parameters, for: client)
    upstream = UpstreamTokenRequest(
      credentials, parameters: parameters, entries: entries, hiding: hiddenValues,
      sealsRefreshToken: sealsRefreshToken, isDevicePoll: redeemed == .deviceCode)
  }

  private static func entries(of code: IssuedCode) -> [FormParameters.Entry] {
    var entries = [
      FormParameters.Entry(.grantType, GrantType.authorizationCode.rawValue),
      FormParameters.Entry(.code, code.upstreamCode.reveal()),
      FormParameters.Entry(.redirectURI, code.upstreamRedirectURI),
    ]
    // The policy may have changed since the authorization request. The content of the sealed code shows whether the
    // gateway sent a challenge upstream.
    if let verifier = code.upstreamVerifier { entries.append(.init(.codeVerifier, verifier.secret.reveal())) }
    return entries
  }

  private static func hiddenValues(of code: IssuedCode) -> [Secret] {
    [code.upstreamCode, code.upstreamVerifier?.secret].compactMap(\.self)
  }

  /// The identifier under which the store records two facts: that the code is used, and which tokens were issued for
  /// it.
  ///
  /// It is derived from the upstream code alone. Two transactions can therefore never redeem the same upstream code,
  /// whatever their clients are.
  public let claimID: TransactionID

  /// The identifier of the login for which the code was issued. All refresh tokens of the login have it, too.
  ///
  /// It is derived from the transaction and the upstream code. If the user goes back and consents again, the
  /// transaction gets a second code, which begins a separate login.
  public let family: TransactionID

  /// Returns the request that revokes a token that was issued for the code (RFC 7009, section 2.1).
  public func revocation(of token: Secret, hint: TokenTypeHint) -> UpstreamTokenRequest {
    UpstreamTokenRequest(revoking: token, hint: hint, credentials, parameters: parameters)
  }
}

extension Enforcement {
  /// Decides the redemption of a code (RFC 6749, section 4.1.3; RFC 7636, section 4.6).
  ///
  /// - Parameters:
  ///   - request: The request, as ``decideToken(_:policy:holdsSealedValue:)`` returned it.
  ///   - opened: The result of decrypting `request.code`.
  ///   - policy: The current policy.
  ///   - now: The current time.
  public static func decideRedemption(
    _ request: RedemptionRequest, opened: Opened<IssuedCode>, policy: Policy, now: UnixTime
  ) -> DecisionWithFindings<RedemptionPermit> {
    let code: IssuedCode
    switch opened {
    case .value(let value): code = value
    case .invalid: return DecisionWithFindings(decision: .reject(RejectionResponse(.codeNotSealed)), findings: [])
    case .keyUnknown:
      return DecisionWithFindings(decision: .reject(RejectionResponse(.sealingKeyUnknown)), findings: [])
    }
    let resource = code.resource.flatMap { policy.resources[$0] }
    var request = request
    request.client = request.client.acting(for: resource)
    let context = RedemptionContext(
      request: request, code: code, requestedResource: RequestedResource(request.parameters, policy),
      resource: resource, now: now)
    var run = RuleRun(mode: .enforce)
    let decision: Decision<RedemptionPermit> =
      switch run.run(RuleTable.redemption, on: context) {
      case .refused(let rejection, let detail): .reject(RejectionResponse(rejection, detail: detail))
      case .allowed: .forward(RedemptionPermit(context, policy: policy))
      }
    return DecisionWithFindings(decision: decision, findings: run.findings)
  }
}
