import OAuth

extension Rejection {
  /// The grant types and their parameters.
  static let grants = Subject(
    "Grants",
    [
      .grantNotAllowed, .passwordGrant, .grantTypeMissing, .grantTypeUnsupported, .clientCredentialsPublic,
      .codeMissing, .refreshTokenMissing, .deviceCodeMissing,
    ])

  package static let grantNotAllowed = Rejection(
    "grant-not-allowed", .unauthorizedClient, 400, .mayRedirect, "this client may not use this grant",
    source: "RFC 6749, sections 4.1.2.1 and 5.2",
    refused: "The client is not allowed to use this grant.",
    why: "The policy lists the grants of each client.",
    remedy: "Add the grant to the client's `grants`, or use a grant that is in it.")

  package static let passwordGrant = Rejection(
    "password-grant", .unsupportedGrantType, 400, .noRedirect, "the password grant is not supported",
    source: "RFC 9700, section 2.4",
    refused: "A client asked for tokens with a user's password.",
    why: "The app sees the password, and no second factor works.",
    remedy: "Use the authorization code grant with PKCE in the browser.")

  package static let grantTypeMissing = Rejection(
    "grant-type-missing", .invalidRequest, 400, .noRedirect, "grant_type is missing",
    source: "RFC 6749, section 4.1.3",
    refused: "The request did not say which grant it uses.",
    why: "`grant_type` is required.",
    remedy: "Send `grant_type`.")

  package static let grantTypeUnsupported = Rejection(
    "grant-type-unsupported", .unsupportedGrantType, 400, .noRedirect, "this grant_type is not supported",
    source: "RFC 6749, section 5.2",
    refused: "`grant_type` is one that the gateway does not support.",
    why: "The gateway does not forward a grant that it cannot check.",
    remedy: "Use one of the grants in the server's metadata.")

  package static let clientCredentialsPublic = Rejection(
    "client-credentials-public", .unauthorizedClient, 400, .noRedirect, "public clients may not use client credentials",
    source: "RFC 6749, section 4.4",
    refused: "A public client used the client credentials grant.",
    why: "A public client has no credentials that would prove its identity.",
    remedy: "Use the authorization code grant with PKCE.")

  package static let codeMissing = Rejection(
    "code-missing", .invalidRequest, 400, .noRedirect, "code is missing",
    source: "RFC 6749, section 4.1.3",
    refused: "The request had no `code`.",
    why: "Without the code, there is nothing to redeem.",
    remedy: "Send `code`.")

  package static let refreshTokenMissing = Rejection(
    "refresh-token-missing", .invalidRequest, 400, .noRedirect, "refresh_token is missing",
    source: "RFC 6749, section 6",
    refused: "The request had no `refresh_token`.",
    why: "Without the token, there is nothing to refresh.",
    remedy: "Send `refresh_token`.")

  package static let deviceCodeMissing = Rejection(
    "device-code-missing", .invalidRequest, 400, .noRedirect, "device_code is missing",
    source: "RFC 8628, section 3.4",
    refused: "The request had no `device_code`.",
    why: "Without the code, there is nothing to redeem.",
    remedy: "Send `device_code`.")
}
