import OAuth

extension Rejection {
  /// The response type, the response mode and the `state` of an authorization request.
  static let responses = Subject(
    "Response types, response modes and state",
    [
      .responseTypeMissing, .responseTypeMalformed, .responseTypeUnsupported, .responseTypeForNative,
      .responseModeUnsupported, .responseModeUnreachable, .stateMissing, .stateSealedForOtherRequest,
    ])

  package static let responseTypeMissing = Rejection(
    "response-type-missing", .invalidRequest, 400, .mayRedirect, "response_type is missing",
    source: "RFC 6749, section 3.1.1",
    refused: "The request had no `response_type`.",
    why: "`response_type` is required.",
    remedy: "Send `response_type=code`.")

  package static let responseTypeMalformed = Rejection(
    "response-type-malformed", .invalidRequest, 400, .mayRedirect, "response_type is not a list of names",
    source: "RFC 6749, appendix A.3",
    refused: "`response_type` is not a list of names that are separated by single spaces.",
    why: """
      A value with a space at an end, with two spaces in a row, or with a character other than letters, digits and `_` \
      is not a response type. Servers treat it differently: some trim it to `code`, others do not.
      """,
    remedy: "Send `response_type=code`.")

  package static let responseTypeUnsupported = Rejection(
    "response-type-unsupported", .unsupportedResponseType, 400, .mayRedirect, "only response_type=code is supported",
    source: "RFC 9700, section 2.1.2",
    refused: "`response_type` was not `code`.",
    why: """
      Tokens in a redirect can leak, and cannot be bound to the app. In a hybrid response, the ID token contains a \
      hash of the server's code, which the sealed code of the gateway does not match.
      """,
    remedy: "Use `response_type=code` with PKCE.")

  package static let responseTypeForNative = Rejection(
    "response-type-for-native", .unauthorizedClient, 400, .mayRedirect, "native apps must use response_type=code",
    source: "RFC 8252, section 8.2",
    refused: "A native app asked for a token in the redirect.",
    why: "PKCE cannot protect this token, and other apps on the device may receive it.",
    remedy: "Use `response_type=code` with PKCE.")

  package static let responseModeUnsupported = Rejection(
    "response-mode-unsupported", .invalidRequest, 400, .mayRedirect, "this response_mode is not supported",
    source: "OAuth 2.0 Multiple Response Types, section 2.1",
    refused: "`response_mode` is unknown, or is not allowed for this client.",
    why: "Each mode exposes the code in a different way.",
    remedy: "Omit `response_mode`, or allow it in the client's `response_modes`.")

  package static let responseModeUnreachable = Rejection(
    "response-mode-unreachable", .invalidRequest, 400, .mayRedirect, "form_post does not reach an app",
    source: "OAuth 2.0 Form Post Response Mode, section 2",
    refused: "The request has `response_mode=form_post` and a private-use redirect URI.",
    why: "Operating systems drop the body when they start an app.",
    remedy: "Omit `response_mode`.")

  package static let stateMissing = Rejection(
    "state-required", .invalidRequest, 400, .mayRedirect, "state required",
    source: "RFC 8252, section 8.9",
    refused: "The request had no `state`, which this client's policy requires.",
    why: "`state` binds the response to the app's request.",
    remedy: "Send a new random `state` in each request.")

  package static let stateSealedForOtherRequest = Rejection(
    "state-foreign", .invalidRequest, 400, .noRedirect, "this state cannot be used here",
    source: "RFC 6749, section 10.12",
    refused: "The `state` is one that the gateway sealed for another request.",
    why: "It would connect a new request with a sign-in that another browser may have begun.",
    remedy: "Generate a new random `state` for each request.")
}
