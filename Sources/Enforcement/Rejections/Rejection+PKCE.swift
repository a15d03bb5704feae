import OAuth

extension Rejection {
  /// The code challenge and the code verifier.
  static let pkce = Subject(
    "PKCE",
    [
      .challengeMissing, .challengeMethodUnsupported, .challengeMalformed, .verifierMissing, .verifierMalformed,
      .verifierMismatch, .unexpectedVerifier,
    ])

  package static let challengeMissing = Rejection(
    "pkce-required", .invalidRequest, 400, .mayRedirect, "code challenge required",
    source: "RFC 7636, section 4.4.1",
    refused: "The request had no `code_challenge`.",
    why: "Without PKCE, any program that intercepts the code can redeem it (RFC 8252, section 8.1).",
    remedy: "Send `code_challenge` and `code_challenge_method=S256`.")

  package static let challengeMethodUnsupported = Rejection(
    "pkce-method", .invalidRequest, 400, .mayRedirect, "transform algorithm not supported",
    source: "RFC 7636, section 4.4.1",
    refused: "The `code_challenge_method` is unknown or not allowed. A request without this parameter uses `plain`.",
    why: "A plain challenge shows the verifier to any program that sees the request (RFC 7636, section 7.2).",
    remedy: "Send `code_challenge_method=S256`.")

  package static let challengeMalformed = Rejection(
    "pkce-challenge", .invalidRequest, 400, .mayRedirect, "code challenge malformed",
    source: "RFC 7636, section 4.2",
    refused: "The `code_challenge` cannot match any verifier.",
    why: "An S256 challenge is exactly 43 characters of base64url without padding.",
    remedy: "Send BASE64URL(SHA256(verifier)) without padding.")

  package static let verifierMissing = Rejection(
    "pkce-verifier-required", .invalidRequest, 400, .noRedirect, "code verifier required",
    source: "RFC 7636, sections 4.5 and 4.6",
    refused: "The code is bound to a challenge, but the request had no `code_verifier`.",
    why: "Only the app that sent the authorization request knows the verifier.",
    remedy: "Send `code_verifier`.")

  package static let verifierMalformed = Rejection(
    "pkce-verifier-syntax", .invalidRequest, 400, .noRedirect, "code verifier malformed",
    source: "RFC 7636, section 4.1",
    refused: "`code_verifier` is not 43 to 128 unreserved characters.",
    why: "The verifier is hashed exactly as it is sent; nothing is removed from it.",
    remedy: "Send 43 to 128 characters of `A-Z a-z 0-9 - . _ ~`.")

  package static let verifierMismatch = Rejection(
    "pkce-verifier-mismatch", .invalidGrant, 400, .noRedirect, "code verifier does not match",
    source: "RFC 7636, section 4.6",
    refused: "The `code_verifier` does not match the challenge.",
    why: "The program that redeems the code may not be the app that sent the authorization request.",
    remedy: "Store each verifier together with the `state` of its request.")

  package static let unexpectedVerifier = Rejection(
    "pkce-downgrade", .invalidRequest, 400, .noRedirect, "code verifier without a code challenge",
    source: "RFC 9700, section 4.8.2",
    refused: "The token request had a `code_verifier`, but the authorization request had no challenge.",
    why: "An attacker may have removed the challenge from the authorization request.",
    remedy: "Send `code_challenge` in the authorization request.")
}
