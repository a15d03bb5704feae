import OAuth

extension Rejection {
  /// Request objects, references to requests, and pushed authorization requests.
  static let requestReferences = Subject(
    "Request objects and pushed requests",
    [
      .requestAndRequestURI, .requestObject, .requestURI, .registrationParameter, .pushedNotAllowed,
      .pushedWithRequestURI, .pushedRequired, .pushedRequestUnknown,
    ])

  package static let requestAndRequestURI = Rejection(
    "request-objects-both", .invalidRequest, 400, .mayRedirect, "both request and request_uri",
    source: "RFC 9101, section 5",
    refused: "The request had both `request` and `request_uri`.",
    why: "A request may have at most one of them.",
    remedy: "Send plain parameters.")

  package static let requestObject = Rejection(
    "request-object", .requestNotSupported, 400, .mayRedirect, "request objects are not supported",
    source: "RFC 9101, section 7",
    refused: "The request had a `request` parameter.",
    why: "The content of this parameter could replace the parameters that were checked.",
    remedy: "Send plain parameters.")

  package static let requestURI = Rejection(
    "request-uri", .requestURINotSupported, 400, .mayRedirect, "request_uri is not supported",
    source: "RFC 9101, section 7",
    refused: "The request had a `request_uri` parameter.",
    why: "The document at this URI could replace the parameters that were checked. The gateway never fetches it.",
    remedy: "Send plain parameters.")

  package static let registrationParameter = Rejection(
    "registration-parameter", .registrationNotSupported, 400, .mayRedirect, "registration is not supported",
    source: "OpenID Connect Core, section 7.2.1",
    refused: "The request had a `registration` parameter.",
    why: "The content of this parameter could replace the registration of the client.",
    remedy: "Register the client instead.")

  package static let pushedNotAllowed = Rejection(
    "pushed-not-allowed", .unauthorizedClient, 400, .noRedirect, "this client may not push its requests",
    source: "RFC 9126, section 2.3",
    refused: "A client pushed an authorization request, but may not push requests.",
    why: """
      A client may push only with `pushed_authorization: optional` or `required`, and only if the gateway itself can \
      authenticate it, because a pushed request never reaches the server.
      """,
    remedy: "Send the request through the browser, or ask the operator to allow pushed requests.")

  package static let pushedWithRequestURI = Rejection(
    "pushed-reference", .invalidRequest, 400, .noRedirect, "a pushed request must not contain request_uri",
    source: "RFC 9126, section 2.1",
    refused: "A pushed authorization request had a `request_uri`.",
    why: "The document at this URI could change before it is used.",
    remedy: "Push the parameters of the request.")

  package static let pushedRequired = Rejection(
    "pushed-required", .invalidRequest, 400, .mayRedirect, "this client must push its requests",
    source: "RFC 9126, section 6",
    refused: "The client must push its authorization requests, but this one came from the browser.",
    why: """
      The operator chose `pushed_authorization: required`, so that no other program can make requests in the client's \
      name.
      """,
    remedy: "Push the request, and open the browser with `client_id` and the `request_uri` from the response.")

  package static let pushedRequestUnknown = Rejection(
    "pushed-unknown", .invalidRequest, 400, .noRedirect, "the request_uri was used, has expired or is another client's",
    source: "RFC 9126, section 4",
    refused: """
      The `request_uri` does not refer to a pushed request that is still valid: another browser used it, it has \
      expired, belongs to another client, or was never issued.
      """,
    why: """
      A reference is valid for 90 seconds, for one client, and for the browser that uses it first. The gateway ignores all other parameters of such \
      a request, so it has no redirect URI to which it could send the error.
      """,
    remedy: "Push the request again, and open the browser at once. Use each reference for one sign-in only.")
}
