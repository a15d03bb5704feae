/// The result of a check of an access token for a resource server. The raw values are labels of a metric and parts of
/// findings in the log.
public enum TokenCheckOutcome: String, Sendable, CaseIterable {
  /// The token is active for the resource.
  case active
  /// The gateway has no record of the token: another server issued it, or it has expired.
  case unknown
  /// The token was issued for another resource, or for none.
  case otherResource = "other-resource"
  /// A client has revoked the token.
  case revoked
  /// The token has expired.
  case expired
  /// The policy no longer permits the client of the token.
  case clientDenied = "client-denied"
  /// The login of the token has ended: by revocation, logout, or the reuse of a refresh token.
  case loginEnded = "login-ended"
  /// The upstream's introspection endpoint says that the token is not active.
  case inactiveUpstream = "inactive-upstream"
  /// The store did not answer, so the check has no result.
  case storeUnavailable = "store-unavailable"
  /// The upstream's introspection endpoint did not answer, so the check has no result.
  case upstreamUnavailable = "upstream-unavailable"
}

/// The endpoint and the result of a check of an access token: the labels of one series.
struct TokenCheckLabels: Hashable {
  let endpoint: DecisionEndpoint
  let outcome: TokenCheckOutcome
}
