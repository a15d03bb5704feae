import OAuth

extension Rejection {
  /// The refresh tokens that clients use at the token endpoint.
  static let refreshTokens = Subject(
    "Refresh tokens",
    [
      .refreshTokenNotSealed, .refreshTokenIssuedToOtherClient, .refreshTokenOutdated, .refreshTokenExpired,
      .refreshInProgress, .refreshTokenReused, .refreshResponseMissing, .refreshRepeatedTooOften,
      .refreshFamilyMissing,
    ])

  package static let refreshTokenNotSealed = Rejection(
    "refresh-token-unbound", .invalidGrant, 400, .noRedirect, "the refresh token was not issued here",
    source: "RFC 6749, section 10.4",
    refused: """
      The gateway did not issue this refresh token, the token was altered, or it was sealed (encrypted) with a key \
      that is retired.
      """,
    why: "The gateway does not know to which client such a token was issued.",
    remedy: "Sign in again.")

  package static let refreshTokenIssuedToOtherClient = Rejection(
    "refresh-token-foreign", .invalidGrant, 400, .noRedirect, "the refresh token was issued to another client",
    source: "RFC 6749, sections 6 and 10.4",
    refused: "The refresh token belongs to another client.",
    why: "Only the client to which a refresh token was issued can use it.",
    remedy: "Sign in again.")

  package static let refreshTokenOutdated = Rejection(
    "refresh-token-outdated", .invalidGrant, 400, .noRedirect, "the refresh token is no longer valid",
    source: "RFC 6749, section 6",
    refused: """
      The client's entry in the policy changed after the token was issued, or the policy no longer lists the resource \
      of the token.
      """,
    why: "The client no longer has the credentials under which the token was issued.",
    remedy: "Sign in again.")

  package static let refreshTokenExpired = Rejection(
    "refresh-token-expired", .invalidGrant, 400, .noRedirect, "the refresh token was unused for too long",
    source: "RFC 9700, section 4.14.2",
    refused: "The refresh token was not used for longer than `refresh_idle`.",
    why: "An app that is no longer used should not keep its access.",
    remedy: "Sign in again, or set a longer `refresh_idle`.")

  package static let refreshInProgress = Rejection(
    "refresh-token-busy", .temporarilyUnavailable, 503, .noRedirect, "a refresh with this token is under way",
    source: "RFC 9700, section 4.14.2",
    refused: "A refresh with the same token is in progress.",
    why: """
      Only one of two requests with the same token may be sent to the server. Until it has a response, the gateway \
      does not know whether the other one is a repeat.
      """,
    remedy: """
      Send one refresh at a time, or set `refresh_reuse_window`, with which both requests get the same response.
      """)

  package static let refreshTokenReused = Rejection(
    "refresh-token-reused", .invalidGrant, 400, .noRedirect, "the refresh token was already used",
    source: "RFC 9700, section 4.14.2",
    refused: "A refresh token was used again after the client had exchanged it for a new one.",
    why: "The old token was presented either by the app or by a thief, and the gateway cannot distinguish them.",
    remedy: "Sign in again.")

  package static let refreshResponseMissing = Rejection(
    "refresh-answer-missing", .temporarilyUnavailable, 503, .noRedirect,
    "the response to this refresh is no longer stored",
    source: "RFC 9700, section 4.14.2",
    refused: "A refresh was repeated, but its response is no longer stored.",
    why: """
      A repeat within `refresh_reuse_window` comes from an app that lost the response. The store had no room for the \
      response, or has evicted it. The sign-in stays valid.
      """,
    remedy: "Try again with the newest token. If it happens often, give the store more memory.")

  package static let refreshRepeatedTooOften = Rejection(
    "refresh-repeated-often", .temporarilyUnavailable, 503, .noRedirect, "this refresh was repeated too often",
    source: "RFC 9700, section 4.14.2",
    refused: "A refresh was repeated more than 64 times within `refresh_reuse_window`.",
    why: """
      An app that has many requests under way may refresh several times at once, and all get the same response. So many \
      repeats come from a fault of the app. The sign-in stays valid.
      """,
    remedy: "Use the newest token. Send one refresh at a time, and let the other requests wait for its response.")

  package static let refreshFamilyMissing = Rejection(
    "family-missing", .invalidGrant, 400, .noRedirect, "the refresh token belongs to an unknown sign-in",
    source: "RFC 9700, section 4.14.2",
    refused: "The store has no record of the sign-in to which the refresh token belongs.",
    why: """
      Each refresh token that a refresh has returned since the last restart must have such a record. Without it, the \
      gateway does not know whether the token was used before.
      """,
    remedy: "Sign in again.")
}
