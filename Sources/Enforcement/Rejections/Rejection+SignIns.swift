import OAuth

extension Rejection {
  /// A sign-in between the authorization request and its response.
  static let signIns = Subject(
    "Sign-ins in progress",
    [
      .transactionExpired, .transactionNoLongerValid, .formWithoutTransaction, .reentryChanged, .reentryBodyUnreadable,
      .codeFromOtherSignIn, .codeAttempts,
    ])

  package static let transactionExpired = Rejection(
    "transaction-expired", .invalidRequest, 400, .noRedirect, "the request has expired",
    source: "RFC 6749, section 4.1.2",
    refused: "The sign-in took too long.",
    why: "The longer a sign-in stays open, the easier it is to steal.",
    remedy: "Start again in the app.")

  package static let transactionNoLongerValid = Rejection(
    "transaction-outdated", .invalidRequest, 400, .noRedirect, "the request is no longer valid",
    source: "RFC 6749, section 4.1.2.1",
    refused: "The client's entry in the policy changed after the request began.",
    why: "A response is sent only to a redirect URI that the policy permits now.",
    remedy: "Start again in the app.")

  package static let formWithoutTransaction = Rejection(
    "form-without-transaction", .invalidRequest, 400, .noRedirect, "there is no request to continue",
    source: "RFC 6749, section 10.12",
    refused: "A browser that has no sign-in in progress posted a form to the authorization endpoint.",
    why: "A form is accepted only as a step of a sign-in whose request was checked.",
    remedy: "Start again in the app.")

  package static let reentryChanged = Rejection(
    "reentry-changed", .invalidRequest, 400, .noRedirect, "the request was changed on its way",
    source: "RFC 6749, section 3.1",
    refused: """
      A login or consent page sent a parameter to the authorization endpoint with another value than the gateway had \
      sent to the server. This applies to `client_id`, `redirect_uri`, `response_type`, `response_mode` and `state`, \
      to the `audience` and `resource` of a policy with `resources`, and to parameters that the gateway never sends, \
      such as `request` or, with `pkce: strip`, `code_challenge`. Or a link with the request left out `scope`, \
      `audience`, `resource` or the code challenge that the gateway had sent. The error page names the parameter.
      """,
    why: "The request that the server answers would no longer be the one that was checked.",
    remedy: """
      Have the server's page send the parameter back unchanged; a form may also leave it out. A new start in the app \
      helps only if the user opened an old page.
      """)

  package static let reentryBodyUnreadable = Rejection(
    "reentry-body", .invalidRequest, 400, .noRedirect, "the form cannot be read",
    source: "RFC 6749, appendix B",
    refused: """
      A form that a page of the server posted to the authorization endpoint has a content type that the gateway does \
      not read, or too many parameters.
      """,
    why: "The server could read parameters in it that the gateway does not see.",
    remedy: "Let the page post an ordinary form.")

  package static let codeFromOtherSignIn = Rejection(
    "answer-replayed", .invalidRequest, 400, .noRedirect, "this code came from another sign-in",
    source: "RFC 9700, section 4.5",
    refused: "The code in the server's response was already in the response of another sign-in, of any client.",
    why: """
      If a code is in the responses of two sign-ins, it was stolen from the first one. So each code of the server \
      belongs to the sign-in in which it came first, for the time of `upstream.code_lifetime`. The clients of the \
      sign-ins do not matter, because some servers accept a code from another client than the one to which they issued \
      it.
      """,
    remedy: """
      Start again in the app. A server that issues the same code twice, to one client or to two, must be repaired: let \
      it issue codes that cannot be guessed.
      """)

  package static let codeAttempts = Rejection(
    "code-attempts", .temporarilyUnavailable, 429, .noRedirect, "too many sign-ins with codes that the server refused",
    source: "RFC 6749, section 10.10",
    refused: """
      The server refused the codes of too many sign-ins from this browser or its network with `invalid_grant`. A code \
      that was not redeemed in time, or a page that was loaded again, does not reach the limit.
      """,
    why: """
      A page of the server may send a code to the gateway that a thief has guessed or stolen. Without a limit, many codes \
      could be tried in a short time.
      """,
    remedy: """
      Wait for the time in `Retry-After`, then start again in the app. If users of one app get this page, the server \
      probably refuses every code of the app: the log of the gateway has its answers (`upstream-error`).
      """)
}
