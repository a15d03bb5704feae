import OAuth

extension Rejection {
  /// The scope of a request.
  static let scopes = Subject(
    "Scopes",
    [
      .scopeMalformed, .scopeNotAllowed, .scopeOfOtherResource, .refreshScopeWider, .reentryScopeWider,
    ])

  package static let scopeMalformed = Rejection(
    "scope-malformed", .invalidScope, 400, .mayRedirect, "scope contains characters that are not allowed",
    source: "RFC 6749, section 3.3",
    refused: "`scope` is not a list of scope tokens.",
    why: """
      A scope token consists of printable ASCII characters other than spaces, quotes and backslashes. One space \
      separates two tokens.
      """,
    remedy: "Correct the scope.")

  package static let scopeNotAllowed = Rejection(
    "scope-not-allowed", .invalidScope, 400, .mayRedirect, "the client may not request this scope",
    source: "RFC 6749, section 3.3",
    refused: """
      A client that registered itself requested a scope token that it may not have, or only tokens that the policy does \
      not send to the server (`scopes.drop`).
      """,
    why: """
      All such clients share one client at the server, so the server cannot limit their scopes. The policy does, and \
      the metadata of the client may limit them further.
      """,
    remedy: "Request the scope in the response to the registration, or add the token to `scopes` in the policy.")

  package static let scopeOfOtherResource = Rejection(
    "scope-of-resource", .invalidScope, 400, .mayRedirect, "the scope belongs to a resource that is not requested",
    source: "RFC 8707, section 3",
    refused: """
      The request contained a scope token that the policy adds to requests for a resource \
      (`resources[].upstream.scopes`), but did not name this resource.
      """,
    why: """
      Some servers derive the audience of a token from its scope. The client would get a token for a resource that it \
      has not named, and that it may not be permitted to use.
      """,
    remedy: "Name the resource in `resource`. The gateway then adds the scope token, so the app can omit it.")

  package static let refreshScopeWider = Rejection(
    "refresh-scope-wider", .invalidScope, 400, .noRedirect, "scope may only become narrower",
    source: "RFC 6749, section 6",
    refused: "The refresh request asked for a scope that was not granted.",
    why: "Only the user can grant a wider scope.",
    remedy: "Request the granted scope or less, or begin a new authorization request.")

  package static let reentryScopeWider = Rejection(
    "reentry-scope-wider", .invalidScope, 400, .noRedirect, "scope may only become narrower",
    source: "RFC 6749, section 3.3",
    refused: """
      A login or consent page of the server sent a scope that the app had not requested. (If the app requested no \
      scope, the server chooses a default, and the page may send any scope.)
      """,
    why: "The user and the gateway agreed to the scope of the request.",
    remedy: "Let the app request every scope that the page sends.")
}
