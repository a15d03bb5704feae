import OAuth

extension Rejection {
  /// The identity of the client that sends a request, and its authentication.
  static let clients = Subject(
    "Clients and their authentication",
    [
      .clientIDRepeated, .clientIDMalformed, .clientIDMissing, .clientUnknown, .clientIDOfUpstream,
      .multipleAuthenticationMethods, .clientAuthenticationMalformed, .clientUnidentified, .clientNotKnownAtToken,
      .clientIDOfUpstreamAtToken, .clientUnauthenticated, .clientAuthenticationFailed, .dpopUnsupported,
    ])

  package static let clientIDRepeated = Rejection(
    "client-id-repeated", .invalidRequest, 400, .noRedirect, "client_id must occur once",
    source: "RFC 6749, section 3.1",
    refused: "`client_id` occurred more than once.",
    why: "The gateway and the server could use different ones.",
    remedy: "Send `client_id` once.")

  package static let clientIDMalformed = Rejection(
    "client-id-malformed", .invalidRequest, 400, .noRedirect, "client_id cannot be decoded",
    source: "RFC 6749, appendix A.1",
    refused: "`client_id` had a broken percent-escape, was not UTF-8, or had characters that identifiers cannot have.",
    why: "Identifiers are printable ASCII.",
    remedy: "Percent-encode the identifier correctly.")

  package static let clientIDMissing = Rejection(
    "client-id-missing", .invalidRequest, 400, .noRedirect, "client_id is missing",
    source: "RFC 6749, section 4.1.1",
    refused: "The request named no client.",
    why: "Without the client, no other rule can be checked.",
    remedy: "Send `client_id`.")

  package static let clientUnknown = Rejection(
    "client-unknown", .invalidRequest, 400, .noRedirect, "the client is not known",
    source: "RFC 6749, section 4.1.2.1",
    refused: "No client has this `client_id`.",
    why: "Users are never sent to the redirect URI of a client that is not registered.",
    remedy: "Check the identifier, or add the client to the policy.")

  package static let clientIDOfUpstream = Rejection(
    "client-id-of-upstream", .invalidRequest, 400, .noRedirect, "the client is not known",
    source: "RFC 6749, section 2.2",
    refused: "The `client_id` is the one that the gateway uses at the server behind it.",
    why: "With it, a program could bypass the gateway's checks under the gateway's own name.",
    remedy: "Use the client's own identifier.")

  package static let multipleAuthenticationMethods = Rejection(
    "client-authentication-several", .invalidRequest, 400, .noRedirect, "more than one client authentication method",
    source: "RFC 6749, section 2.3",
    refused: "The request authenticated the client in more than one way, or named two clients.",
    why: "The gateway and the server could use different ones.",
    remedy: "Use either HTTP Basic or the body.")

  package static let clientAuthenticationMalformed = Rejection(
    "client-authentication-malformed", .invalidClient, 401, .noRedirect, "client authentication cannot be read",
    source: "RFC 6749, section 2.3.1",
    refused: "The `Authorization` field was not well-formed HTTP Basic.",
    why: "The identifier and the secret are form-encoded before base64, so that a colon in them is unambiguous.",
    remedy: "Form-encode the identifier and the secret, join them with a colon, and encode the result in base64.")

  package static let clientUnidentified = Rejection(
    "client-unidentified", .invalidClient, 400, .noRedirect, "client_id is missing",
    source: "RFC 6749, section 3.2.1",
    refused: "The request named no client.",
    why: "A client that does not authenticate must say who it is.",
    remedy: "Send `client_id`.")

  package static let clientNotKnownAtToken = Rejection(
    "client-not-known", .invalidClient, 400, .noRedirect, "the client is not known",
    source: "RFC 6749, section 5.2",
    refused: "No client has this `client_id`.",
    why: "Codes are redeemed by registered clients only.",
    remedy: "Check the identifier, or add the client to the policy.")

  package static let clientIDOfUpstreamAtToken = Rejection(
    "client-is-upstream", .invalidClient, 401, .noRedirect, "the client is not known",
    source: "RFC 6749, section 2.2",
    refused: """
      The request contains the `client_id` that the gateway uses at the server behind it. It may be in any parameter \
      that names a client, in an assertion or in the `Authorization` field, and in any spelling that some server \
      accepts.
      """,
    why: """
      With it, a program could bypass the gateway's checks and redeem codes, or guess the secret that the gateway \
      holds.
      """,
    remedy: """
      Use the client's own identifier. If this is the identifier of a client, list it in the policy; the client must \
      then use exactly this spelling.
      """)

  package static let clientUnauthenticated = Rejection(
    "client-unauthenticated", .invalidClient, 401, .noRedirect, "client authentication required",
    source: "RFC 6749, section 2.3",
    refused: """
      A confidential client, or the old version of an app (`accept_old_version_until`), sent no credentials.
      """,
    why: "An identifier without credentials proves nothing.",
    remedy: "Authenticate with HTTP Basic or `client_secret`.")

  package static let clientAuthenticationFailed = Rejection(
    "client-authentication-failed", .invalidClient, 401, .noRedirect, "client authentication failed",
    source: "RFC 6749, section 5.2",
    refused: "The client's credentials were wrong.",
    why: "Only the client knows its secret.",
    remedy: "Check the secret.")

  package static let dpopUnsupported = Rejection(
    "sender-constraint", .invalidRequest, 400, .noRedirect, "DPoP is not supported: a token here is a bearer token",
    source: "RFC 9449, section 5",
    refused: "A token request or a pushed authorization request had a DPoP proof.",
    why: """
      The gateway's own request to the server has no proof, so the token would be a bearer token. A client that asks \
      for a token bound to its key must not get a weaker token without notice.
      """,
    remedy: "Switch DPoP off in the client, or let the client send its requests directly to the server.")
}
