import OAuth

extension Rejection {
  /// The resource for which a client requests tokens.
  static let resources = Subject(
    "Resources",
    [
      .resourceUnknown, .resourceRepeated, .resourceNotGranted, .introspectionTokenMissing,
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
      A token request named another resource than the authorization request, or one that the authorization request \
      did not name.
      """,
    why: "The user agreed to the resource of the authorization request. A grant without a resource is for none.",
    remedy: "Omit `resource`, send the one of the authorization request, or begin a new authorization request.")

  package static let introspectionTokenMissing = Rejection(
    "introspection-token-missing", .invalidRequest, 400, .noRedirect, "token is missing",
    source: "RFC 7662, section 2.1",
    refused: "An introspection request had no `token`.",
    why: "The gateway can only answer for a token.",
    remedy: "Send `token`.")
}
