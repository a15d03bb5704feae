public import OAuth
public import Policy

/// The decisions: pure functions of a request, the policy and the facts that the caller has looked up.
public enum Enforcement {}

extension Enforcement {
  /// Decides an authorization request (RFC 6749, section 4.1.1) that is not a re-entry.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - policy: The current policy.
  ///   - stateIsSealed: True if the `state` opens as one that the gateway sealed. Only a re-entry may have such a
  ///     state.
  ///   - isPushed: True if the client pushed the request (RFC 9126).
  ///   - isOpened: True if the request was opened from a value that the gateway sealed. It is then enforced in every
  ///     mode.
  ///   - isRestarted: True if the request was opened from a start ticket. Its refusals never reach the client by
  ///     redirect: a redirect carries the client's `state`, and the holder of the ticket may be another person than the
  ///     one who began.
  public static func decideAuthorization(
    _ request: AuthorizationRequest, policy: Policy, stateIsSealed: Bool, isPushed: Bool = false,
    isOpened: Bool = false, isRestarted: Bool = false
  ) -> DecisionWithFindings<AuthorizationPermit> {
    let isEnforced = isOpened || isPushed || stateIsSealed
    let context = AuthorizationContext(
      request: request, policy: policy, stateIsSealed: stateIsSealed, isPushed: isPushed,
      isRestarted: isRestarted,
      mode: isEnforced ? .enforce : mode(of: request, policy: policy))
    return authorization(context, keepsTrace: false).outcome
  }

  /// The same decision, with the verdict of every rule.
  public static func explainAuthorization(
    _ request: AuthorizationRequest, policy: Policy, stateIsSealed: Bool = false
  ) -> (outcome: DecisionWithFindings<AuthorizationPermit>, trace: [TraceStep]) {
    authorization(
      AuthorizationContext(
        request: request, policy: policy, stateIsSealed: stateIsSealed,
        mode: stateIsSealed ? .enforce : mode(of: request, policy: policy)), keepsTrace: true)
  }

  private static func authorization(
    _ context: AuthorizationContext, keepsTrace: Bool
  ) -> (outcome: DecisionWithFindings<AuthorizationPermit>, trace: [TraceStep]) {
    var run = RuleRun(mode: context.mode, keepsTrace: keepsTrace)
    let decision: Decision<AuthorizationPermit> =
      switch run.run(RuleTable.authorization, on: context) {
      case .refused(let rejection, let detail): .reject(context.refusal(rejection, detail))
      case .allowed where context.mode == .observe: .pass(PassThroughPermit())
      case .allowed:
        AuthorizationPermit(context).map(Decision.forward) ?? .reject(context.refusal(.redirectURIMissing, nil))
      }
    return (DecisionWithFindings(decision: decision, findings: run.findings), run.trace)
  }
}
