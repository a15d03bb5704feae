internal import ByteText
import Cryptography
public import OAuth
public import Policy
import Time

/// Decisions together with the verdict of each rule that ran, for programs that explain a policy. The gateway itself
/// does not call these functions.
extension Enforcement {
  /// Returns the decision of `decidePushed` on a request without a sealed `state`, and the verdict of every rule that
  /// ran.
  public static func explainPushed(
    _ request: TokenRequest, policy: Policy
  ) -> (outcome: DecisionWithFindings<PushedPermit>, trace: [TraceStep]) {
    let outcome = decidePushed(request, policy: policy, stateIsSealed: false)
    let context = TokenContext(request: request, policy: policy)
    var trace = Enforcement.trace(of: RuleTable.pushed, on: context)
    if case .refuse? = trace.last?.verdict { return (outcome, trace) }
    guard let client = context.client else { return (outcome, trace) }
    let pushed = AuthorizationRequest(method: "GET", query: Substring(pushedQuery(request, of: client)))
    trace += Enforcement.trace(
      of: RuleTable.authorization,
      on: AuthorizationContext(request: pushed, policy: policy, stateIsSealed: false, isPushed: true))
    return (outcome, trace)
  }

  /// Returns the decision of `decideDeviceAuthorization`, and the verdict of every rule that ran.
  public static func explainDeviceAuthorization(
    _ request: TokenRequest, policy: Policy
  ) -> (outcome: DecisionWithFindings<DeviceAuthorizationPermit>, trace: [TraceStep]) {
    (
      decideDeviceAuthorization(request, policy: policy),
      trace(of: RuleTable.device, on: TokenContext(request: request, policy: policy))
    )
  }

  /// Returns the decision of `decideIntrospection`, and the verdict of every rule that ran.
  public static func explainIntrospection(
    _ request: TokenRequest, policy: Policy
  ) -> (outcome: DecisionWithFindings<IntrospectionPermit>, trace: [TraceStep]) {
    (
      decideIntrospection(request, policy: policy),
      trace(of: RuleTable.introspection, on: IntrospectionContext(request: request, policy: policy))
    )
  }

  /// Returns the decision on a redemption, and the verdict of every rule that ran. The content of the presented code is
  /// not read. In its place, the rules get a code that the gateway could have issued for this token request: to this
  /// client, for its redirect URI, with the challenge of its verifier. If the request has no verifier, but the client
  /// needs one, the code has a challenge too.
  public static func explainRedemption(
    _ request: RedemptionRequest, policy: Policy
  ) -> (outcome: DecisionWithFindings<RedemptionPermit>, trace: [TraceStep])? {
    guard let code = assumedCode(for: request, policy: policy) else { return nil }
    let outcome = decideRedemption(request, opened: .value(code), policy: policy, now: assumedTime)
    let resource = code.resource.flatMap { policy.resources[$0] }
    var acting = request
    acting.client = request.client.acting(for: resource)
    let context = RedemptionContext(
      request: acting, code: code, requestedResource: RequestedResource(request.parameters, policy),
      resource: resource, now: assumedTime)
    return (outcome, trace(of: RuleTable.redemption, on: context))
  }

  /// Returns the decision on a refresh. In place of the presented token, the decision gets a token that the gateway
  /// could have issued to this client, for the requested scope and resource.
  public static func explainRefresh(_ request: RefreshRequest, policy: Policy) -> DecisionWithFindings<RefreshPermit>? {
    guard let family = TransactionID(bytes: [UInt8](repeating: 0, count: TransactionID.byteCount)) else { return nil }
    let resource = RequestedResource(request.parameters, policy).resource
    let grant = RefreshGrant(
      family: family, generation: 0, epoch: .none,
      binding: ClientBinding(
        clientID: request.client.id, scope: request.scope,
        upstreamClientID: request.client.acting(for: resource).upstream.clientID, resource: resource?.uri.text),
      upstreamRefreshToken: Secret("assumed"), issuedAt: assumedTime)
    let opened: Opened<RefreshGrant> = request.client.keepsUpstreamRefreshTokens ? .invalid : .value(grant)
    return decideRefresh(request, opened: opened, policy: policy, now: assumedTime)
  }

  /// The time at which assumed codes and tokens are issued and presented.
  static let assumedTime: UnixTime = 0

  private static func assumedCode(for request: RedemptionRequest, policy: Policy) -> IssuedCode? {
    let resource = RequestedResource(request.parameters, policy).resource
    let client = request.client.acting(for: resource)
    let sent = request.redirectURI.flatMap { try? RedirectURI(parsing: $0) }
    let registered = sent.flatMap { client.hasRegistered($0) ? $0 : nil }
    let onlyOne = RedirectURI.defaultURI(registered: client.redirectURIs)
    guard let redirectURI = registered ?? onlyOne ?? client.redirectURIs.first,
      let transactionID = TransactionID(bytes: [UInt8](repeating: 0, count: TransactionID.byteCount))
    else { return nil }
    let needsChallenge =
      (client.pkce == .required || client.profile == .oauth21 && !client.reliesOnNonce)
      && !client.acceptsOldVersion(at: assumedTime)
    let challenge = request.verifier.map { Enforcement.challenge(of: $0.secret.reveal()) }
    let binding = FlowBinding(
      clientID: client.id, redirectURI: redirectURI, redirectURIWasSent: request.redirectURI != nil || onlyOne == nil,
      challenge: challenge ?? (needsChallenge ? Enforcement.challenge(of: "") : nil), scope: nil,
      upstreamClientID: client.upstream.clientID,
      upstreamRedirectURI: client.upstreamRedirectURI(for: redirectURI, policy), resource: resource?.uri.text)
    return IssuedCode(
      transactionID: transactionID, binding: binding, upstreamCode: Secret("assumed"), expiry: assumedTime + 60,
      epoch: .none, origin: SignInOrigin(browser: 0, network: nil))
  }

  private static func challenge(of verifier: String) -> CodeChallenge {
    CodeChallenge(text: Base64URL.encode(sha256(Array(verifier.utf8))), method: .s256)
  }

  /// Runs the rules as in enforce mode, and returns their verdicts.
  private static func trace<Context>(of rules: [Rule<Context>], on context: Context) -> [TraceStep] {
    var run = RuleRun(mode: .enforce, keepsTrace: true)
    _ = run.run(rules, on: context)
    return run.trace
  }
}
