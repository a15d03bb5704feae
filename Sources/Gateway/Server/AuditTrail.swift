import Enforcement
import OAuth
import Telemetry

/// The facts about one request for the decision log and the metrics.
final class AuditTrail {
  /// The number of the request in its worker.
  let request: UInt64
  var endpoint = DecisionEndpoint.path
  /// The client id as the request names it.
  var client: String?
  /// True if the policy lists `client`.
  var isConfigured = false
  var transaction: TransactionID?
  /// The family of refresh tokens to which the request belongs.
  var family: TransactionID?
  var decision = DecisionKind.forward
  var rule: Rejection?
  var mode = "enforce"
  var findings: [String] = []
  var redirectKind: String?
  /// The entry of `upstream.not_endpoints` that would let the path through, for a path that resembles an endpoint.
  var path: String?
  var upstreamStatus: Int?
  /// The networks of the first and the repeated use, for a repeated refresh.
  var networks: RefreshNetworks?
  /// Further facts about an observed request.
  var observed: ObservedRequest?

  /// - Parameter request: The number of the request in its worker.
  init(_ request: UInt64) {
    self.request = request
  }

  /// Records an outcome: its refusal, if any, and the refusals that observe mode did not carry out.
  func note<Permit: Sendable>(_ outcome: DecisionWithFindings<Permit>) {
    for finding in outcome.findings {
      switch finding {
      case .wouldReject(let rejection):
        wouldReject(rejection)
      case .note(let note): findings.append(note.rawValue)
      }
    }
    if let refusal = outcome.refusal { refused(refusal.rejection) }
  }

  /// Records a refusal that observe mode did not carry out.
  func wouldReject(_ rejection: Rejection) {
    findings.append("would-reject:\(rejection.ruleID)")
    guard decision != .reject else { return }
    decision = .wouldReject
    rule = rule ?? rejection
  }

  /// Records a redemption whose authorization request is unknown, so that most rules cannot be evaluated.
  func notObservable() {
    findings.append("not-observable")
    if decision == .forward { decision = .notObservable }
  }

  func refused(_ rejection: Rejection) {
    decision = .reject
    rule = rejection
  }

  func note(_ redirectURI: RedirectURI) {
    redirectKind =
      switch redirectURI.kind {
      case .privateUse: "private-use"
      case .https: "https"
      case .loopback: "loopback"
      case .localhost: "localhost"
      case .broker: "broker"
      }
  }
}
