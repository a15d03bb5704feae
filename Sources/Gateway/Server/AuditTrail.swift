import Enforcement
import OAuth
import Telemetry

/// The notes on one request for the decision log and the metrics.
final class AuditTrail {
  /// The number of the request in its worker.
  let request: UInt64
  var endpoint = DecisionEndpoint.path
  /// As the request says it.
  var client: String?
  /// True if `client` is in the policy.
  var isConfigured = false
  var transaction: TransactionID?
  /// The family of refresh tokens that the request is about.
  var family: TransactionID?
  var decision = DecisionKind.forward
  var rule: Rejection?
  var mode = "enforce"
  var findings: [String] = []
  var redirectKind: String?
  /// Of a path that looks like an endpoint: the entry of `upstream.not_endpoints` that would let it by.
  var path: String?
  var upstreamStatus: Int?
  /// Of a repeated refresh.
  var networks: RefreshNetworks?
  /// More about an observed request.
  var observed: ObservedRequest?

  /// - Parameter request: The number of the request in its worker.
  init(_ request: UInt64) {
    self.request = request
  }

  /// Notes an outcome: whether it refuses, and the refusals that observe mode did not carry out.
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

  /// Notes a refusal that observe mode did not carry out.
  func wouldReject(_ rejection: Rejection) {
    findings.append("would-reject:\(rejection.ruleID)")
    guard decision != .reject else { return }
    decision = .wouldReject
    rule = rule ?? rejection
  }

  /// Notes a redemption whose authorization request is not known, so that most rules cannot be evaluated.
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
