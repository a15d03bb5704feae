public import OAuth
public import Policy

/// What the rules look at once the code is open.
struct RedemptionContext: Sendable {
  let intent: RedemptionIntent
  let code: IssuedCode
  let now: Int64
}

/// Permission to redeem the upstream's code. Only this module can create it. The caller claims the single use of
/// ``family`` before it contacts the upstream.
public final class RedemptionPermit: Sendable {
  public let client: Client
  public let code: IssuedCode
  /// What the client proved itself with; `nil` for a code without a challenge.
  public let verifier: Secret?
  public let upstream: UpstreamTokenRequest
  /// True if refresh tokens in the answer are sealed to the client: for public clients, and where the gateway's
  /// credentials redeem the code, because only they can refresh later. An observed client that can refresh at the
  /// upstream by itself gets the upstream's token, so that observing ends sealing (`I-observe`).
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
    // The rules have compared the verifier wherever there was a challenge.
    credentials = UpstreamCredentials(
      client: client, authentication: intent.authentication, isProven: intent.clientIsProven || code.challenge != nil)
    let isSealed = client.kind == .public || credentials.isHeld
    sealsRefreshToken = isSealed && !client.refreshesItself(with: intent.authentication)
    var entries = [
      FormParameters.Entry(.grantType, GrantType.authorizationCode.rawValue),
      FormParameters.Entry(.code, code.upstreamCode.reveal()),
      FormParameters.Entry(.redirectURI, code.upstreamRedirectURI),
    ]
    // By the code and not by the policy, which may have changed since the challenge went upstream.
    let upstreamVerifier = code.upstreamVerifier?.secret
    if let upstreamVerifier { entries.append(FormParameters.Entry(.codeVerifier, upstreamVerifier.reveal())) }
    entries += policy.allowListed(parameters)
    upstream = UpstreamTokenRequest(
      credentials, parameters: parameters, entries: entries,
      hiding: [code.upstreamCode, upstreamVerifier].compactMap(\.self), sealsRefreshToken: sealsRefreshToken)
  }

  /// The id of the login that issued the code, and of the family of its refresh tokens.
  ///
  /// It comes from the upstream's code: two transactions can never redeem one code, and a second code of one transaction
  /// (the user went back and consented again) is a login of its own.
  public let family: TransactionID

  /// The request that ends a token that came of the code (RFC 7009, section 2.1).
  public func revocation(of token: Secret, hint: TokenTypeHint) -> UpstreamTokenRequest {
    UpstreamTokenRequest(revoking: token, hint: hint, credentials, parameters: parameters)
  }
}

extension Enforcement {
  /// Decides the redemption of a code that was opened (RFC 6749, section 4.1.3; RFC 7636, section 4.6).
  ///
  /// - Parameters:
  ///   - intent: From ``decideToken(_:policy:)``.
  ///   - opened: What opening `intent.code` gave.
  ///   - policy: The policy of now.
  ///   - now: Seconds since 1970.
  public static func decideRedemption(
    _ intent: RedemptionIntent, opened: Opened<IssuedCode>, policy: Policy, now: Int64
  ) -> DecisionWithFindings<RedemptionPermit> {
    redemption(intent, opened: opened, policy: policy, now: now, keepsTrace: false).outcome
  }

  /// The same decision with what every rule said.
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
