public import OAuth
public import Policy
public import Time

/// The decisions. Each is a pure function of a request, the policy, and facts that the caller has looked up.
public enum Enforcement {}

extension Enforcement {
  /// Decides an authorization request (RFC 6749, section 4.1.1) that does not come from a login or consent page of the
  /// upstream; ``decideReentry(_:sealedState:transaction:browserMatches:policy:now:)`` decides those.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - policy: The current policy.
  ///   - stateIsSealed: True if the gateway can decrypt `state` as a state that it sealed (encrypted and
  ///     authenticated). The request is then refused.
  ///   - isPushed: True if the client pushed the request (RFC 9126). It is then enforced in every mode.
  ///   - requestWasSealed: True if the request was in a value that the gateway had sealed, such as a start ticket. It
  ///     is then enforced in every mode.
  ///   - isRestarted: True if the request comes from a start ticket: the sealed request in the link by which a user
  ///     restarts a sign-in. Errors are then never redirected to the client: a redirect would contain the client's
  ///     `state`, and the user of the link may be another person than the one who began the sign-in.
  ///   - now: The current time, for a client whose old version is accepted until a date; `nil` if it is not accepted.
  ///   - unlisted: The client of the request if the policy does not list it (`UnlistedClientRules`); `nil` if there is
  ///     none.
  public static func decideAuthorization(
    _ request: AuthorizationRequest, policy: Policy, stateIsSealed: Bool, isPushed: Bool = false,
    requestWasSealed: Bool = false, isRestarted: Bool = false, now: UnixTime? = nil, unlisted: Client? = nil
  ) -> DecisionWithFindings<AuthorizationPermit> {
    let isEnforced = requestWasSealed || isPushed || stateIsSealed || unlisted != nil
    let context = AuthorizationContext(
      request: request, policy: policy, stateIsSealed: stateIsSealed, isPushed: isPushed,
      isRestarted: isRestarted,
      mode: isEnforced ? .enforce : mode(of: request, policy: policy), now: now, unlisted: unlisted)
    return runRules(on: context, keepsTrace: false).outcome
  }

  /// Returns the decision of `decideAuthorization`, and the verdict of every rule that ran. The old version of an app
  /// counts as accepted if the policy has a date for it.
  public static func explainAuthorization(
    _ request: AuthorizationRequest, policy: Policy, stateIsSealed: Bool = false
  ) -> (outcome: DecisionWithFindings<AuthorizationPermit>, trace: [TraceStep]) {
    runRules(
      on: AuthorizationContext(
        request: request, policy: policy, stateIsSealed: stateIsSealed,
        mode: stateIsSealed ? .enforce : mode(of: request, policy: policy), now: assumedTime), keepsTrace: true)
  }

  private static func runRules(
    on context: AuthorizationContext, keepsTrace: Bool
  ) -> (outcome: DecisionWithFindings<AuthorizationPermit>, trace: [TraceStep]) {
    var run = RuleRun(mode: context.mode, keepsTrace: keepsTrace)
    let decision: Decision<AuthorizationPermit> =
      switch run.run(RuleTable.authorization, on: context) {
      case .refused(let rejection, let detail): .reject(context.errorResponse(for: rejection, detail: detail))
      case .allowed where context.mode == .observe: .pass(PassThroughPermit())
      case .allowed:
        // The rules have checked that the client is known and its redirect URI verified, so the initialiser returns a
        // permit. The refusal behind `??` is never used.
        AuthorizationPermit(context).map(Decision.forward)
          ?? .reject(context.errorResponse(for: .redirectURIMissing, detail: nil))
      }
    return (DecisionWithFindings(decision: decision, findings: run.findings), run.trace)
  }

  // MARK: Mode

  /// Returns the mode of an authorization request (invariant `I-observe`). An observed request is forwarded even if a
  /// rule refuses it.
  ///
  /// The result does not apply if the gateway can decrypt `state` as a state that it sealed. Such a request comes from
  /// a login or consent page of the upstream, and is always enforced.
  public static func mode(of request: AuthorizationRequest, policy: Policy) -> EnforcementMode {
    guard policy.isObserving else { return .enforce }
    return policy.mode(forClientIDs: Set(request.all(.clientID)), isUnambiguous: request.namesOneClient)
  }
}
