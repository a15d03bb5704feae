extension Rejection {
  /// Scopes.
  static let scopes = Subject(
    "Scopes",
    [
      .scopeMalformed, .refreshScopeWider, .reentryScope,
    ])

  package static let scopeMalformed = Rejection(
    "scope-malformed", .invalidScope, 400, .redirect, "scope contains characters that are not allowed",
    source: "RFC 6749, section 3.3",
    refused: "`scope` is not a list of scope tokens.",
    why: "Tokens are printable ASCII without quotes and backslashes, with one space between them.",
    remedy: "Correct the scope.")

  package static let refreshScopeWider = Rejection(
    "refresh-scope-wider", .invalidScope, 400, .page, "scope may only become narrower",
    source: "RFC 6749, section 6",
    refused: "The refresh asked for more than was granted.",
    why: "Only the user can grant a wider scope.",
    remedy: "Request the granted scope or less, or begin a new authorization request.")

  package static let reentryScope = Rejection(
    "reentry-scope-wider", .invalidScope, 400, .page, "scope may only become narrower",
    source: "RFC 6749, section 3.3",
    refused: """
      A login or consent page came back with a scope that the app did not ask for. If the app asked for no scope, the \
      server chooses its default, and the page may carry any scope.
      """,
    why: "The user and the gateway agreed to the scope of the request.",
    remedy: "Have the app ask for the scope, so that the form carries no more.")
}
