public import OAuth
public import Policy

/// The facts for the rules on an opened code.
struct RedemptionContext: Sendable {
  let intent: RedemptionIntent
  let code: IssuedCode
  let now: Int64
}

/// Permission to redeem the upstream code. Only `Enforcement` can create it. The caller claims the single use of
/// ``family`` before it contacts the upstream.
public final class RedemptionPermit: Sendable {
  /// The client that redeems the code.
  public let client: Client
  /// The content of the sealed code.
  public let code: IssuedCode
  /// The verifier that the client presented; `nil` for a code without a challenge.
  public let verifier: Secret?
  /// The token request to the upstream.
  public let upstream: UpstreamTokenRequest
  /// True if refresh tokens in the response are sealed to the client: those of public clients, and those of codes that
  /// the gateway redeems with credentials that it holds, because only these can refresh later. An observed client that
  /// can refresh at the upstream by itself gets the upstream token, so that observing ends sealing (`I-observe`).
  public let sealsRefreshToken: Bool
  private let credentials: UpstreamCredentials
  private let parameters: FormParameters

  init(_ context: RedemptionContext, policy: Policy) {
    let intent = context.intent
    code = context.code
    family = TransactionID(code.digest)
    client = intent.client
    verifier = intent.verifier?.secret
    parameters = intent.parameters
    // If there was a challenge, the rules have compared the verifier.
    credentials = UpstreamCredentials(
      client: client, authentication: intent.authentication, isProven: intent.clientIsProven || code.challenge != nil)
    let isSealed = client.kind == .public || credentials.isHeld
    sealsRefreshToken = isSealed && !client.refreshesItself(with: intent.authentication)
    var entries = [
      FormParameters.Entry(.grantType, GrantType.authorizationCode.rawValue),
      FormParameters.Entry(.code, code.upstreamCode.reveal()),
      FormParameters.Entry(.redirectURI, code.upstreamRedirectURI),
    ]
    // Depends on the code, not on the policy, which may have changed since the challenge was sent upstream.
    let upstreamVerifier = code.upstreamVerifier?.secret
    if let upstreamVerifier { entries.append(FormParameters.Entry(.codeVerifier, upstreamVerifier.reveal())) }
    entries += policy.allowListed(parameters)
    upstream = UpstreamTokenRequest(
      credentials, parameters: parameters, entries: entries,
      hiding: [code.upstreamCode, upstreamVerifier].compactMap(\.self), sealsRefreshToken: sealsRefreshToken)
  }

  /// The identifier of the login for which the code was issued, and of the family of its refresh tokens.
  ///
  /// It is derived from the upstream code: two transactions can never redeem one code, and a second code of the same
  /// transaction (the user went back and consented again) is a separate login.
  public let family: TransactionID

  /// The request that revokes a token that was issued for the code (RFC 7009, section 2.1).
  public func revocation(of token: Secret, hint: TokenTypeHint) -> UpstreamTokenRequest {
    UpstreamTokenRequest(revoking: token, hint: hint, credentials, parameters: parameters)
  }
}

extension Enforcement {
  /// Decides the redemption of an opened code (RFC 6749, section 4.1.3; RFC 7636, section 4.6).
  ///
  /// - Parameters:
  ///   - intent: The result of ``decideToken(_:policy:holdsSealedValue:)``.
  ///   - opened: The result of opening `intent.code`.
  ///   - policy: The current policy.
  ///   - now: The current time in seconds since 1970.
  public static func decideRedemption(
    _ intent: RedemptionIntent, opened: Opened<IssuedCode>, policy: Policy, now: Int64
  ) -> DecisionWithFindings<RedemptionPermit> {
    redemption(intent, opened: opened, policy: policy, now: now, keepsTrace: false).outcome
  }

  /// The same decision, with the verdict of every rule.
  public static func explainRedemption(
    _ intent: RedemptionIntent, opened: Opened<IssuedCode>, policy: Policy, now: Int64
  ) -> (outcome: DecisionWithFindings<RedemptionPermit>, trace: [TraceStep]) {
    redemption(intent, opened: opened, policy: policy, now: now, keepsTrace: true)
  }

  private static func redemption(
    _ intent: RedemptionIntent, opened: Opened<IssuedCode>, policy: Policy, now: Int64, keepsTrace: Bool
  ) -> (outcome: DecisionWithFindings<RedemptionPermit>, trace: [TraceStep]) {
    let code: IssuedCode
    switch opened {
    case .value(let value): code = value
    case .invalid: return (DecisionWithFindings(decision: .reject(RejectionResponse(.codeNotSealed)), findings: []), [])
    case .keyUnknown:
      return (DecisionWithFindings(decision: .reject(RejectionResponse(.codeKeyUnknown)), findings: []), [])
    }
    let context = RedemptionContext(intent: intent, code: code, now: now)
    var run = RuleRun(mode: .enforce, keepsTrace: keepsTrace)
    let decision: Decision<RedemptionPermit> =
      switch run.run(RuleTable.redemption, on: context) {
      case .refused(let rejection, let detail): .reject(RejectionResponse(rejection, detail: detail))
      case .allowed: .forward(RedemptionPermit(context, policy: policy))
      }
    return (DecisionWithFindings(decision: decision, findings: run.findings), run.trace)
  }
}
