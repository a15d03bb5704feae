import OAuth

extension Rejection {
  /// The responses of the server.
  static let upstreamResponses = Subject(
    "Responses of the server",
    [
      .responseToOtherURI, .codeReflectedFromRequest, .responseUnchecked, .upstreamResponseUnusable,
      .responseToEnforcedClient, .responseWithoutSignIn, .completionPath, .callbackClosed, .upstreamDenied,
      .upstreamError, .upstreamFailed,
      .upstreamUnavailable, .upstreamTimedOut, .tokenShared,
    ])

  package static let responseToOtherURI = Rejection(
    "answer-elsewhere", .serverError, 502, .noRedirect, "the server sent its response to another address",
    source: "RFC 6749, section 3.1.2",
    refused: """
      The server sent its response to an address other than the redirect URI of the request: the scheme, the host, the \
      port or the path differs, or a parameter of that URI's own query is missing, changed or repeated. Additional \
      parameters do not matter. While the browser has a \
      sign-in in progress, the gateway also refuses every code that the server sends to another origin than its own, \
      with or without a `state`, in `Location`, `Refresh`, `Content-Location` or `Link`.
      """,
    why: "A code must not travel to an address that was not checked.",
    remedy: """
      Check the redirect URI that is registered at the server. A server whose sign-in passes codes between several \
      origins cannot be used behind one gateway.
      """)

  package static let codeReflectedFromRequest = Rejection(
    "answer-echoed", .invalidRequest, 400, .noRedirect, "this code was already in the request",
    source: "RFC 9700, section 4.5",
    refused: """
      The code in the server's response was already in the request. Or a page of the server sent a request to the \
      gateway that contains an authorization response with a code.
      """,
    why: "Through an open redirect of the server, an attacker could inject a stolen code in this way.",
    remedy: "Start again in the app.")

  package static let responseUnchecked = Rejection(
    "answer-unchecked", .serverError, 502, .noRedirect, "the gateway could not search the request for the code",
    source: "RFC 9700, section 4.5",
    refused: """
      The server's response would complete a sign-in, but the gateway no longer had the whole request of this \
      response: its body is longer than `limits.request_copy`, memory was short, or the server answered before it had \
      read the body.
      """,
    why: """
      The gateway completes a response only if its code was not in the request (`answer-echoed`). It cannot know this \
      without the request.
      """,
    remedy: """
      Raise `limits.request_copy` above the length of the form, for example of a SAML response with many groups. If \
      memory is short (`max_buffer_memory`), raise that.
      """)

  package static let upstreamResponseUnusable = Rejection(
    "answer-unusable", .serverError, 502, .mayRedirect, "the server's response cannot be used",
    source: "RFC 6749, section 4.1.2",
    refused: """
      The server's response contained neither a code nor an error, or both, or a malformed or repeated one, or a second \
      `code` or `state` in another spelling, such as `Code`.
      """,
    why: "There is no response that the app could use.",
    remedy: "See the server's log.")

  package static let responseToEnforcedClient = Rejection(
    "answer-to-enforced", .serverError, 502, .noRedirect, "the server's response belongs to another client",
    source: "RFC 7636, section 1",
    refused: """
      The server sent a code or token for an observed or unknown client to a redirect URI of an enforced client, or to \
      the gateway's callback.
      """,
    why: """
      The app behind this redirect URI, or an app that has taken over its scheme or port, would get a code without \
      PKCE.
      """,
    remedy: """
      Look at the `client` of the request in the log. If the client shares this redirect URI with an enforced client, \
      list it under `clients` with this redirect URI, or enforce it too.
      """)

  package static let responseWithoutSignIn = Rejection(
    "response-unlisted", .serverError, 502, .noRedirect, "the server's response belongs to no sign-in",
    source: "RFC 6749, section 3.1.2",
    refused: """
      On a path that is not an OAuth endpoint, the server sent a code or token to the callback or to a registered \
      redirect URI, by a redirect or in a `Link`. The response belongs to no sign-in of this browser: it has no \
      `state` of the gateway, or it is not a redirect.
      """,
    why: """
      The gateway completes a response only for the sign-in that requested it. Any other response would give an \
      unsealed code to the browser.
      """,
    remedy: """
      A server that drops `state` cannot be used. If the path is another authorization endpoint of the server, list it \
      in `endpoints.authorization`.
      """)

  package static let completionPath = Rejection(
    "completion-path", .serverError, 502, .noRedirect, "the server must not complete a sign-in at this path",
    source: "RFC 9700, section 4.5",
    refused: """
      The server sent a code from a path that is neither an authorization endpoint nor in `upstream.completion_paths`. \
      The gateway has claimed the code, so no sign-in can use it later. In observe mode, the response passes with a \
      finding. Errors are completed at every path.
      """,
    why: """
      A page that redirects to an address of the request, such as a language switch, can send back a stolen code. The \
      gateway would complete the attacker's own sign-in with it. Only the pages at which the server really ends a \
      sign-in need to send codes.
      """,
    remedy: """
      If the server ends sign-ins at this path, for example after its login form, add the path to \
      `upstream.completion_paths`. The log line and the page have the path; `proofgate readiness` lists all of them \
      from a log of observe mode, and `proofgate learn` writes the setting.
      """)

  package static let callbackClosed = Rejection(
    "callback-closed", .serverError, 400, .mayRedirect, "responses are not accepted here",
    source: "RFC 6749, section 3.1.2",
    refused: "A browser sent an authorization response to the callback.",
    why: """
      With `callback: in_place`, the gateway takes codes from the server's responses, so that browsers never see them.
      """,
    remedy: "Set `callback: network` if the server answers by script or by form_post.")

  package static let upstreamDenied = Rejection(
    "upstream-denied", .accessDenied, 400, .mayRedirect, "access was denied",
    source: "RFC 6749, section 4.1.2.1",
    refused: "The user or the server denied the request.",
    why: "The gateway reports the decision of the server.",
    remedy: "Let the user decide when to try again.")

  package static let upstreamError = Rejection(
    "upstream-error", .serverError, 400, .mayRedirect, "the server reported an error",
    source: "RFC 6749, section 4.1.2.1",
    refused: "The server answered with an error.",
    why: "The gateway reports the decision of the server.",
    remedy: "See the error code and the description of the server.")

  package static let upstreamFailed = Rejection(
    "upstream-failed", .serverError, 502, .mayRedirect, "the server failed",
    source: "RFC 6749, section 4.1.2.1",
    refused: """
      The gateway could not use the server's response, or the server closed the connection without a complete \
      response.
      """,
    why: "The gateway cannot complete the request without the server.",
    remedy: "Try again later.")

  package static let upstreamUnavailable = Rejection(
    "upstream-unavailable", .temporarilyUnavailable, 503, .mayRedirect, "the server cannot be reached",
    source: "RFC 6749, section 4.1.2.1",
    refused: "The server could not be reached.",
    why: "The gateway cannot complete the request without the server.",
    remedy: "Try again later.")

  package static let upstreamTimedOut = Rejection(
    "upstream-timed-out", .temporarilyUnavailable, 504, .mayRedirect, "the server did not answer in time",
    source: "RFC 6749, section 4.1.2.1",
    refused: "The server did not answer in time.",
    why: "The gateway cannot complete the request without the server.",
    remedy: "Try again later.")

  package static let tokenShared = Rejection(
    "token-shared", .serverError, 502, .noRedirect, "the server issued a token that belongs to others",
    source: "RFC 9700, section 2.3",
    refused: """
      The server issued an access token that it had issued before, for another resource or for none, or to 16 other \
      clients. The gateway does not pass it on.
      """,
    why: """
      Some servers return the same access token for each sign-in of a user with the same upstream client. A token that \
      two resources accept could be used by one of them at the other. Of a token of several clients, each must be known, so \
      that it ends when the policy denies one of them.
      """,
    remedy: "Give each resource an upstream client of its own: set `client` in `resources[].upstream`.")
}
