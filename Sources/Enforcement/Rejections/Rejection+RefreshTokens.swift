extension Rejection {
  /// Refresh tokens.
  static let refreshTokens = Subject(
    "Refresh tokens",
    [
      .refreshTokenUnbound, .refreshTokenForeign, .refreshTokenOutdated, .refreshTokenExpired, .refreshTokenBusy,
      .refreshTokenReused, .refreshAnswerMissing, .familyMissing,
    ])

  package static let refreshTokenUnbound = Rejection(
    "refresh-token-unbound", .invalidGrant, 400, .page, "the refresh token was not issued here",
    source: "RFC 6749, section 10.4",
    refused: "The refresh token was not issued by the gateway or was altered.",
    why: "It is not bound to this client.",
    remedy: "Sign in again.")

  package static let refreshTokenForeign = Rejection(
    "refresh-token-foreign", .invalidGrant, 400, .page, "the refresh token was issued to another client",
    source: "RFC 6749, sections 6 and 10.4",
    refused: "The refresh token belongs to another client.",
    why: "A refresh token can be used only by the client that it was issued to.",
    remedy: "Sign in again.")

  package static let refreshTokenOutdated = Rejection(
    "refresh-token-outdated", .invalidGrant, 400, .page, "the refresh token is no longer valid",
    source: "RFC 6749, section 6",
    refused: "The client's entry in the policy changed, or the key was retired.",
    why: "The credentials that would use it are no longer the client's.",
    remedy: "Sign in again.")

  package static let refreshTokenExpired = Rejection(
    "refresh-token-expired", .invalidGrant, 400, .page, "the refresh token was unused for too long",
    source: "RFC 9700, section 4.14.2",
    refused: "The refresh token was not used for longer than `refresh_idle`.",
    why: "An app that is no longer used should not keep its access.",
    remedy: "Start a new authorization request, or set a longer `refresh_idle`.")

  package static let refreshTokenBusy = Rejection(
    "refresh-token-busy", .temporarilyUnavailable, 503, .page, "a refresh with this token is under way",
    source: "RFC 9700, section 4.14.2",
    refused: "A refresh with the same token is in progress.",
    why: """
      Only one of two requests with the same token may go upstream. Until the first has ended, the gateway does not \
      know whether the second is a repeat.
      """,
    remedy: "Send one refresh at a time, or set `refresh_reuse_window`, which gives both requests the same answer.")

  package static let refreshTokenReused = Rejection(
    "refresh-token-reused", .invalidGrant, 400, .page, "the refresh token was already used",
    source: "RFC 9700, section 4.14.2",
    refused: "A rotated refresh token was used again.",
    why: "Either the app or a thief presents an old token, and the gateway cannot distinguish them.",
    remedy: "Sign in again.")

  package static let refreshAnswerMissing = Rejection(
    "refresh-answer-missing", .temporarilyUnavailable, 503, .page, "the response to this refresh is no longer stored",
    source: "RFC 9700, section 4.14.2",
    refused: "A refresh was repeated, and its answer is no longer stored.",
    why: """
      A repeat within `refresh_reuse_window` comes from an app that lost the answer. The store had no room for the \
      answer, or has evicted it. The sign-in stays valid.
      """,
    remedy: "Try again with the newest token. If it happens often, give the store more memory.")

  package static let familyMissing = Rejection(
    "family-missing", .invalidGrant, 400, .page, "the refresh token belongs to an unknown sign-in",
    source: "RFC 9700, section 4.14.2",
    refused: "The store has no record of the sign-in of a rotated refresh token.",
    why: """
      Each rotated token since the last restart has a record. Without a record, the gateway does not know whether the \
      token was used before.
      """,
    remedy: "Sign in again.")
}
