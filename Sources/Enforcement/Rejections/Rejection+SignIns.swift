extension Rejection {
  /// A sign-in between the authorization request and its response.
  static let signIns = Subject(
    "Sign-ins in progress",
    [
      .transactionExpired, .transactionOutdated, .formWithoutTransaction, .reentryChanged, .reentryBody,
      .answerReplayed,
    ])

  package static let transactionExpired = Rejection(
    "transaction-expired", .invalidRequest, 400, .page, "the request has expired",
    source: "RFC 6749, section 4.1.2",
    refused: "The sign-in took too long.",
    why: "A sign-in that stays open for long is easier to steal.",
    remedy: "Start again in the app.")

  package static let transactionOutdated = Rejection(
    "transaction-outdated", .invalidRequest, 400, .page, "the request is no longer valid",
    source: "RFC 6749, section 4.1.2.1",
    refused: "The client's entry in the policy changed after the request began.",
    why: "A response is sent only to an address that the policy allows now.",
    remedy: "Start again in the app.")

  package static let formWithoutTransaction = Rejection(
    "form-without-transaction", .invalidRequest, 400, .page, "there is no request to continue",
    source: "RFC 6749, section 10.12",
    refused: "A form was posted to the authorization endpoint by a browser that began no request.",
    why: "A form is accepted only as part of a request that was checked.",
    remedy: "Start again in the app.")

  package static let reentryChanged = Rejection(
    "reentry-changed", .invalidRequest, 400, .page, "the request was changed on its way",
    source: "RFC 6749, section 3.1",
    refused: """
      A login or consent page came back to the authorization endpoint with a parameter that differs from the one that \
      the server got: `client_id`, `redirect_uri`, `response_type`, `response_mode`, `state`, or a parameter that the \
      gateway never sends, such as `request` or, with `pkce: strip`, `code_challenge`. The error page names the \
      parameter.
      """,
    why: "The request that was checked would no longer be the request that the server answers.",
    remedy: """
      Have the server's page send the parameter back unchanged, empty, or not at all. A new start in the app helps \
      only if the user opened an old page.
      """)

  package static let reentryBody = Rejection(
    "reentry-body", .invalidRequest, 400, .page, "the form cannot be read",
    source: "RFC 6749, appendix B",
    refused: "A form was posted to the authorization endpoint in a content type that the gateway does not read.",
    why: "It could contain parameters that the server would read and the gateway would not.",
    remedy: "Let the page post an ordinary form.")

  package static let answerReplayed = Rejection(
    "answer-replayed", .invalidRequest, 400, .page, "this code came from another sign-in",
    source: "RFC 9700, section 4.5",
    refused: "The code in the server's response occurred in another sign-in before.",
    why: """
      A code that occurs in two sign-ins was stolen from the first one. Each upstream code belongs to the first \
      sign-in in which it occurs, for `upstream.code_lifetime`.
      """,
    remedy: "Start again in the app. A server that issues the same code twice has to be repaired.")
}
