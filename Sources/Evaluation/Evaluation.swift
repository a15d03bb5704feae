public import Enforcement
import OAuth
public import Policy

/// The decision on one request under a policy, with its reasons.
public struct Evaluation: Sendable {
  /// The ways in which a decision can end.
  public enum Outcome: Sendable {
    /// The rules permit the request. The gateway sends its own request upstream, or answers itself.
    case forward
    /// The request goes upstream as it is: it is observed, or no rules apply to it.
    case pass
    /// The request is refused.
    case reject(RejectionResponse)
    /// The decision depends on a fact that is not in the request or the policy. The text names it.
    case undetermined(String)
  }

  /// The name of the endpoint in the decision log; `nil` if the path is not an endpoint.
  public internal(set) var endpoint: String?
  /// The client id in the request; `nil` if it has no single one.
  public internal(set) var client: String?
  /// The mode in which the rules ran; `nil` if no rules apply.
  public internal(set) var mode: EnforcementMode?
  /// The rules that ran, in order, with their verdicts.
  public internal(set) var steps: [TraceStep] = []
  /// The facts that the gateway would log, including refusals that observe mode does not carry out.
  public internal(set) var findings: [Finding] = []
  /// The end of the decision.
  public internal(set) var outcome: Outcome
  /// True if the gateway shows its consent page before it sends the request upstream.
  public internal(set) var asksForConsent = false
  /// The comparison of the redirect URI with the registered ones; `nil` if it matches one.
  public internal(set) var redirect: RedirectComparison?
  /// The request that the gateway would send upstream; `nil` if it would send none, or the client's own.
  public internal(set) var upstream: UpstreamPreview?
  /// True if the request has credentials of the client, and the request that the gateway would send upstream has none.
  public internal(set) var dropsCredentials = false
  /// Remarks on facts that the decision assumes.
  public internal(set) var notes: [String] = []

  init(_ outcome: Outcome, endpoint: String? = nil) {
    self.outcome = outcome
    self.endpoint = endpoint
  }
}

extension Evaluation {
  /// The words for decisions. Those that the decision log has too mean the same there.
  public enum Decision: String, Sendable, CaseIterable {
    /// The rules permit the request.
    case forward
    /// No rules apply to the request, so it goes upstream as it is.
    case pass
    /// The request is refused.
    case reject
    /// The request is observed, and would be refused in enforce mode.
    case wouldReject = "would_reject"
    /// The decision depends on a fact that is not in the request or the policy.
    case undetermined
  }

  /// The decision in one word.
  public var decision: Decision {
    switch outcome {
    case .forward: .forward
    case .pass: rejections.isEmpty ? (mode == nil ? .pass : .forward) : .wouldReject
    case .reject: .reject
    case .undetermined: .undetermined
    }
  }

  /// The rule that refuses the request, or the first that would refuse it; `nil` if there is none.
  public var rejection: Rejection? {
    rejections.first
  }

  /// The rules that refuse the request, or would refuse it in enforce mode.
  var rejections: [Rejection] {
    if case .reject(let refusal) = outcome { return [refusal.rejection] }
    return findings.compactMap { finding in
      guard case .wouldReject(let rejection) = finding else { return nil }
      return rejection
    }
  }

  /// The findings as the decision log writes them.
  public var findingNames: [String] {
    findings.map { finding in
      switch finding {
      case .wouldReject(let rejection): "would-reject:\(rejection.ruleID)"
      case .note(let note): note.rawValue
      }
    }
  }

  /// The decision in a few words, for a comparison: for example `reject pkce-required (redirect)`.
  public var summary: String {
    var text = decision.rawValue
    if let rejection { text += " \(rejection.ruleID)" }
    switch outcome {
    case .reject(let refusal):
      switch refusal.delivery {
      case .withoutRedirect: break
      case .redirect: text += " (by redirect)"
      case .pageWithLink: text += " (by a page with a link)"
      }
    case .undetermined(let reason): text += " (\(reason))"
    case .forward, .pass: break
    }
    if asksForConsent { text += " (after the consent page)" }
    if dropsCredentials { text += " (without the client's credentials)" }
    return text
  }
}
