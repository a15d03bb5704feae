import Enforcement
import HTTP
import OAuth
import Telemetry

/// Collects the facts about one request that go to the decision log and the metrics.
final class AuditTrail {
  /// The facts from which the ids of the request and of its trace follow.
  let reference: RequestReference
  /// The id of the request, which all its lines in the log have in common.
  let requestID: String
  /// The trace to which the request belongs (W3C Trace Context); `nil` if there is none.
  var trace: TraceContext?
  var endpoint = DecisionEndpoint.otherPath
  /// The client id in the request, cut to 256 bytes if the policy does not list it; `nil` if the request names none.
  var client: String?
  /// True if the policy lists `client`.
  var clientIsConfigured = false
  var transaction: TransactionID?
  /// The id of the refresh token family (all refresh tokens that follow from one code) to which the request belongs.
  var family: TransactionID?
  var decision = DecisionKind.forward
  /// The state of the flow after the request, unless it is refused.
  var step: DecisionStep?
  /// The grant type of a token request.
  var grant: String?
  /// The refusal; in observe mode, the first refusal that was not carried out.
  var rejection: Rejection?
  /// The mode that the log shows: `enforce` or `observe`.
  var mode = "enforce"
  /// Facts that the log shows in addition to the decision, such as `would-reject:redirect-uri-mismatch`.
  var findings: [String] = []
  /// The kind of the redirect URI, such as `loopback`; `nil` if the request has none.
  var redirectKind: String?
  /// The path as it is logged, if the decision depends on the path:
  ///
  /// - If the path resembles an endpoint: the entry that the operator can add to `upstream.not_endpoints` to let the
  ///   path pass.
  /// - If the path is outside of `upstream.pass`, or an OAuth request has a path that the policy does not list: the
  ///   path with `*` for each segment that may be an id or a secret.
  ///
  /// - If a response with a code came from a path that is not an endpoint: this path, also with `*`. The line about the
  ///   redemption of an observed code has it, too.
  ///
  /// `nil` for other requests, and for a path that cannot be logged safely.
  var path: String?
  var upstreamStatus: Int?
  /// The networks of the first and of the repeated use of a refresh token; `nil` if the request does not repeat a
  /// refresh.
  var networks: RefreshNetworks?
  /// The content of an authorization or token request, without secrets.
  var details: RequestDetails?

  init(_ reference: RequestReference, requestID: String) {
    self.reference = reference
    self.requestID = requestID
  }

  /// The id that all lines of one sign-in have in common, from the authorization request to the last refresh; `nil` if
  /// the sign-in is not known.
  var flow: String? { (transaction ?? family)?.flow }

  /// Records the refusal and the findings of a decision. Findings include refusals that observe mode did not carry out.
  func record<Permit: Sendable>(_ outcome: DecisionWithFindings<Permit>) {
    for finding in outcome.findings {
      switch finding {
      case .wouldReject(let rejection):
        recordWouldReject(rejection)
      case .note(let note): findings.append(note.rawValue)
      }
    }
    if let refusal = outcome.refusal { recordRefusal(refusal.rejection) }
  }

  /// Records a refusal that was not carried out because the request is only observed.
  func recordWouldReject(_ rejection: Rejection) {
    findings.append("would-reject:\(rejection.ruleID)")
    guard decision != .reject else { return }
    decision = .wouldReject
    self.rejection = self.rejection ?? rejection
  }

  /// Records that most rules could not be evaluated for an observed request that redeems a code, because the
  /// authorization request for the code is unknown.
  func recordNotObservable() {
    findings.append("not-observable")
    if decision == .forward { decision = .notObservable }
  }

  func recordRefusal(_ rejection: Rejection) {
    decision = .reject
    self.rejection = rejection
  }

  func recordRedirectKind(of redirectURI: RedirectURI) {
    redirectKind =
      switch redirectURI.kind {
      case .privateUse: "private-use"
      case .https: "https"
      case .loopback: "loopback"
      case .localhost: "localhost"
      case .windowsBroker: "broker"
      }
  }
}
