import OAuth

extension Rejection {
  /// The resource for which a client requests tokens.
  static let resources = Subject(
    "Resources",
    [
      .resourceUnknown, .resourceRepeated, .resourceNotGranted, .revocationUnsupported, .introspectionTokenMissing,
      .checkedTokenMissing, .checkedTokenInactive, .checkedScopeInsufficient, .checkClosed,
    ])

  package static let resourceUnknown = Rejection(
    "resource-unknown", .invalidTarget, 400, .mayRedirect, "the resource is not known",
    source: "RFC 8707, section 2",
    refused: """
      `resource` is not among the identifiers and aliases in `resources`. Or the resource has an upstream client of its \
      own, which the client cannot use: the gateway cannot verify the client's credentials, or the client requests a \
      token for itself.
      """,
    why: "A token is issued only for a resource that the operator has listed. Identifiers are compared byte for byte.",
    remedy: """
      Send the identifier exactly as the metadata of the resource has it, or add it to `aliases`. A slash at the end \
      makes a difference.
      """)

  package static let resourceRepeated = Rejection(
    "resource-repeated", .invalidTarget, 400, .mayRedirect, "request one resource at a time",
    source: "RFC 8707, section 2",
    refused: "The request named two different resources.",
    why: "A token that two resources accept could be used by one of them at the other.",
    remedy: "Begin a separate authorization request for each resource.")

  package static let resourceNotGranted = Rejection(
    "resource-not-granted", .invalidTarget, 400, .noRedirect, "the grant is for another resource",
    source: "RFC 8707, section 2.2",
    refused: """
      A token request named another resource than the authorization request (or device authorization request), or \
      one that this request did not name.
      """,
    why: "The user agreed to the resource of the authorization request. A grant without a resource is for none.",
    remedy: "Omit `resource`, send the one of the authorization request, or begin a new authorization request.")

  package static let revocationUnsupported = Rejection(
    "revocation-unsupported", .unsupportedTokenType, 400, .noRedirect, "this token cannot be revoked here",
    source: "RFC 7009, section 2.2.1",
    refused: """
      A client that registered itself, or has a metadata document, presented a token that the gateway has not sealed, \
      such as an access token. The policy lists no resources, so the gateway keeps no records of access tokens.
      """,
    why: "The server does not know the client, and the gateway does not know if the token belongs to it.",
    remedy: "Revoke the refresh token. With `resources` in the policy, access tokens can be revoked too.")

  package static let introspectionTokenMissing = Rejection(
    "introspection-token-missing", .invalidRequest, 400, .noRedirect, "token is missing",
    source: "RFC 7662, section 2.1",
    refused: "An introspection request had no `token`.",
    why: "The gateway can only answer for a token.",
    remedy: "Send `token`.")

  package static let checkedTokenMissing = Rejection(
    "check-token-missing", .invalidToken, 401, .noRedirect, "a bearer token is missing",
    source: "RFC 6750, section 3.1",
    refused: "A request at the `check` listener of a resource had no `Authorization` field.",
    why: "The resource is only for requests with a token.",
    remedy: """
      The program has to get a token first. The challenge in the response names the metadata of the resource, and no \
      error code. If the program sends a token, let the proxy pass `Authorization` to the check.
      """)

  package static let checkedTokenInactive = Rejection(
    "check-token-inactive", .invalidToken, 401, .noRedirect, "the token is not active for this resource",
    source: "RFC 6750, section 3.1",
    refused: """
      A request at the `check` listener of a resource had a token that is not active for this resource, or not exactly \
      one bearer token.
      """,
    why: "A token of another resource, of an ended login or of a denied client must not be accepted.",
    remedy: """
      The finding `token-inactive` in the decision log has the reason. The program has to refresh its token, or to \
      request one for this resource.
      """)

  package static let checkedScopeInsufficient = Rejection(
    "check-scope-insufficient", .insufficientScope, 403, .noRedirect, "the token lacks a scope of this resource",
    source: "RFC 6750, section 3.1",
    refused: "A request at a `check` listener had an active token without the scopes in `check_scopes`.",
    why: "The operator requires these scopes for every request to the resource.",
    remedy: "The program has to request the scopes that the challenge in the response names.")

  package static let checkClosed = Rejection(
    "check-closed", .temporarilyUnavailable, 503, .noRedirect, "no resource is checked at this address",
    source: "RFC 9110, section 15.6.4",
    refused: """
      A request arrived at a `check` listener whose resource is no longer in the policy, or has another address.
      """,
    why: "The gateway does not know for which resource the token should be.",
    remedy: "Restart the gateway after a change of `check`, or let the proxy ask at the new address.")
}
