/// The way in which the gateway handled a request. The raw values are labels of a metric.
public enum Handling: String, Sendable, CaseIterable {
  /// Forwarded without being judged, because no rules apply to the request.
  case pass
  /// Judged (checked by rules), not refused, and forwarded.
  case forward
  /// Answered by the gateway itself.
  case answer
  /// Refused by a rule, malformed, or beyond a limit.
  case refuse
}

/// An endpoint or other path whose requests are judged (checked by rules). The raw values are labels of a metric and
/// values in the log.
public enum DecisionEndpoint: String, Sendable, CaseIterable {
  /// The authorization endpoint (RFC 6749, section 3.1).
  case authorization
  /// The redirect URI of the gateway, to which the upstream sends authorization responses.
  case callback
  /// The token endpoint (RFC 6749, section 3.2).
  case token
  /// The revocation endpoint (RFC 7009).
  case revocation
  /// The introspection endpoint (RFC 7662).
  case introspection
  /// A listener at which proxies check bearer tokens for one resource.
  case check
  /// The device authorization endpoint (RFC 8628).
  case device
  /// The page on which a user enters and confirms the code of a device (RFC 8628).
  case deviceVerification = "device_verification"
  /// The client registration endpoint (RFC 7591).
  case registration
  /// The authorization server metadata (RFC 8414).
  case metadata
  /// The consent page of the gateway.
  case consent
  /// A path that is not an endpoint, but at which the upstream sent an authorization response that the gateway withheld
  /// to check it.
  case response
  /// The pushed authorization request endpoint (RFC 9126).
  case pushedAuthorization = "pushed_authorization"
  /// The pages that explain the rules.
  case rulePages = "rule_pages"
  /// Any other path that is judged, e.g. one that servers read in different ways, or one that the policy closes to all
  /// requests. Also used in log lines about removed header fields and about observed authorization responses that pass.
  case otherPath = "path"
}

/// The decision about a request. The raw values are labels of a metric and values in the log.
public enum DecisionKind: String, Sendable, CaseIterable {
  /// Not refused by a rule. The gateway forwards the request or answers it itself.
  case forward
  /// Refused by a rule.
  case reject
  /// Forwarded in observe mode, although enforce mode would have refused it.
  case wouldReject = "would_reject"
  /// Forwarded in observe mode. The gateway does not know the authorization request that led to the code, so it could
  /// not evaluate the rules for the redemption.
  case notObservable = "not_observable"
}

/// The reason why the upstream sent no complete response. The raw values are labels of a metric.
public enum UpstreamErrorKind: String, Sendable, CaseIterable {
  /// No address accepted the connection.
  case refused
  /// Connecting took too long, or the upstream did not respond in time.
  case timeout
  /// The connection ended before the response was complete.
  case reset
  /// The response was not valid HTTP, or the request could not be sent as HTTP.
  case `protocol`
  /// The name does not resolve.
  case dns
  /// All connections stayed in use, and none became free in time.
  case busy
  /// The TLS handshake failed, or the server's certificate is not trusted.
  case tls
}

/// The state of a flow after a request that was not refused. The raw values are values in the log.
public enum DecisionStep: String, Sendable, CaseIterable {
  /// A pushed authorization request was accepted (RFC 9126).
  case pushed
  /// The consent page of the gateway was shown.
  case consentPage = "consent_page"
  /// The user allowed the request on the consent page.
  case consent
  /// The authorization request was sent to the upstream, whose login follows.
  case login
  /// The code was sent to the client.
  case code
  /// The device has to wait for the user (RFC 8628, section 3.5).
  case pending
  /// Tokens were issued.
  case tokens
  /// A token was revoked, or was not valid before (RFC 7009, section 2.2).
  case revoked
}

/// The labels of one series of `proofgate_findings_total`.
public struct FindingLabels: Hashable, Sendable, Comparable {
  /// The client, as in ``DecisionLabels``.
  public let client: String
  /// The name of the finding without its details, e.g. `would-reject`.
  public let finding: String
  /// The id of the rule that would have refused the request, for `would-reject`; otherwise empty.
  public let rule: String

  /// - Parameter finding: A finding as in the log. Only the names of rules are kept of its details, because the number
  ///   of all other details is not limited.
  init(client: String, finding: String) {
    self.client = client
    // Search by bytes: this runs for each request with a finding, and a search by characters takes ten times as long.
    guard let colon = finding.utf8.firstIndex(of: UInt8(ascii: ":")) else {
      self.finding = finding
      rule = ""
      return
    }
    self.finding = String(finding[..<colon])
    rule = self.finding == "would-reject" ? String(finding[finding.utf8.index(after: colon)...]) : ""
  }

  /// Orders by client, finding and rule, so that the lines of the metrics always have the same order.
  public static func < (left: FindingLabels, right: FindingLabels) -> Bool {
    (left.client, left.finding, left.rule) < (right.client, right.finding, right.rule)
  }
}

/// The labels of one series of `proofgate_decisions_total`.
public struct DecisionLabels: Hashable, Sendable, Comparable {
  /// The endpoint whose rules were applied.
  public let endpoint: DecisionEndpoint
  /// A configured client id, `other` once the maximum number of clients has a series, or `unknown` for an id that is
  /// not configured.
  public let client: String
  /// The id of the rule that refused the request, or would have refused it in enforce mode; empty if there is no such
  /// rule.
  public let rule: String
  /// The decision.
  public let decision: DecisionKind

  /// Orders by endpoint, client, rule and decision, so that the lines of the metrics always have the same order.
  public static func < (left: DecisionLabels, right: DecisionLabels) -> Bool {
    (left.endpoint.rawValue, left.client, left.rule, left.decision.rawValue)
      < (right.endpoint.rawValue, right.client, right.rule, right.decision.rawValue)
  }
}
