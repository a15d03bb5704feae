import OAuth

extension Rejection {
  /// The authorization codes that clients redeem at the token endpoint.
  static let codes = Subject(
    "Authorization codes",
    [
      .codeNotSealed, .sealingKeyUnknown, .codeIssuedToOtherClient, .codeExpired, .codeUsed, .codeBusy, .codeOutdated,
    ])

  package static let codeNotSealed = Rejection(
    "code-unbound", .invalidGrant, 400, .noRedirect, "the code was not issued here",
    source: "RFC 7636, section 4.4",
    refused: """
      The gateway did not issue this code, the code was altered, or it was sealed (encrypted) with a key that is \
      retired.
      """,
    why: "The gateway does not know for which client and which challenge such a code was issued.",
    remedy: "Begin a new authorization request.")

  package static let sealingKeyUnknown = Rejection(
    "code-key-unknown", .temporarilyUnavailable, 503, .noRedirect, "try again in a moment",
    source: "RFC 6749, section 5.2",
    refused: """
      The code, refresh token, `state` or link was sealed (encrypted) with a key that this replica does not have yet.
      """,
    why: "After a change of keys, the replicas load the new key one after another.",
    remedy: "Try again.")

  package static let codeIssuedToOtherClient = Rejection(
    "code-foreign", .invalidGrant, 400, .noRedirect, "the code was issued to another client",
    source: "RFC 6749, section 4.1.3",
    refused: "The code belongs to another client.",
    why: "Only the client to which a code was issued can redeem it.",
    remedy: "Begin a new authorization request.")

  package static let codeExpired = Rejection(
    "code-expired", .invalidGrant, 400, .noRedirect, "the code has expired",
    source: "RFC 6749, section 4.1.2",
    refused: "The code is too old.",
    why: "Codes are valid for a short time: a minute by default, ten minutes at most.",
    remedy: "Redeem the code at once.")

  package static let codeUsed = Rejection(
    "code-used", .invalidGrant, 400, .noRedirect, "the code was already used",
    source: "RFC 6749, section 4.1.2",
    refused: "The code was redeemed before.",
    why: "A code can be redeemed only once.",
    remedy: "Begin a new authorization request.")

  package static let codeBusy = Rejection(
    "code-busy", .temporarilyUnavailable, 503, .noRedirect, "a redemption of this code is under way",
    source: "RFC 6749, section 4.1.2",
    refused: """
      Another request of the same client redeems the code, and its result was not known after ten seconds. Or a \
      gateway ended while it redeemed the code.
      """,
    why: "A code can be redeemed only once, and the other request may still succeed or fail.",
    remedy: "Try again later, or begin a new authorization request.")

  package static let codeOutdated = Rejection(
    "code-outdated", .invalidGrant, 400, .noRedirect, "the code is no longer valid",
    source: "RFC 6749, section 4.1.3",
    refused: """
      The client's entry in the policy changed after the code was issued, or the policy no longer lists the resource \
      of the code.
      """,
    why: "The client no longer has the credentials or the rules under which the code was issued.",
    remedy: "Begin a new authorization request.")
}
