import OAuth

extension Rejection {
  /// The redirect URI of a request.
  static let redirectURIs = Subject(
    "Redirect URIs",
    [
      .redirectURIRepeated, .redirectURIMalformed, .redirectURIMissing, .redirectURISyntax, .redirectURIMismatch,
      .redirectURILocalhost, .redirectURIEnforced, .codeRedirectURIMismatch,
    ])

  package static let redirectURIRepeated = Rejection(
    "redirect-uri-repeated", .invalidRequest, 400, .noRedirect, "redirect_uri must occur once",
    source: "RFC 6749, section 3.1",
    refused: "`redirect_uri` occurred more than once.",
    why: "The gateway and the server could use different ones.",
    remedy: "Send `redirect_uri` once.")

  package static let redirectURIMalformed = Rejection(
    "redirect-uri-malformed", .invalidRequest, 400, .noRedirect, "redirect_uri cannot be decoded",
    source: "RFC 6749, appendix B",
    refused: "`redirect_uri` had a broken percent-escape, was not UTF-8, or had a control character.",
    why: "A value that cannot be decoded cannot be compared.",
    remedy: "Form-encode the URI once.")

  package static let redirectURIMissing = Rejection(
    "redirect-uri-missing", .invalidRequest, 400, .noRedirect, "redirect_uri is missing",
    source: "RFC 6749, section 3.1.2.3",
    refused: "`redirect_uri` was omitted, and the registration does not determine which URI is meant.",
    why: """
      It may be omitted only if exactly one redirect URI is registered, and that one is not a loopback URI, whose port \
      only the app knows.
      """,
    remedy: "Send `redirect_uri`.")

  package static let redirectURISyntax = Rejection(
    "redirect-uri-syntax", .invalidRequest, 400, .noRedirect, "redirect_uri is not an acceptable URI",
    source: "RFC 6749, section 3.1.2",
    refused: "`redirect_uri` is invalid, or two programs could read it differently.",
    why: """
      User information, fragments, dot segments, encoded slashes and similar parts of a URI have caused open redirects \
      in many servers.
      """,
    remedy: "Use the registered URI exactly as it is registered.")

  package static let redirectURIMismatch = Rejection(
    "redirect-uri-mismatch", .invalidRequest, 400, .noRedirect, "redirect_uri is not registered",
    source: "RFC 8252, section 8.4",
    refused: """
      `redirect_uri` differs from every redirect URI that is registered for the client. The comparison is byte for \
      byte.
      """,
    why: "Only the port of a loopback literal may vary, and only for native apps (RFC 8252, section 7.3).",
    remedy: """
      Register the URI, or send a registered one. The decision log has the position of the first byte that differs, and \
      `proofgate explain` marks it.
      """)

  package static let redirectURILocalhost = Rejection(
    "redirect-uri-localhost", .invalidRequest, 400, .noRedirect, "the name localhost is not accepted",
    source: "RFC 8252, section 8.3",
    refused: "`redirect_uri` uses the name `localhost`, which this client's policy rejects.",
    why: "The name can resolve to another machine, and firewalls treat it differently.",
    remedy: "Use `http://127.0.0.1` or `http://[::1]`, or set `localhost: exact`.")

  package static let redirectURIEnforced = Rejection(
    "redirect-uri-enforced", .invalidRequest, 400, .noRedirect, "redirect_uri belongs to another client",
    source: "RFC 7636, section 1",
    refused: """
      A request of an observed or unknown client had a redirect URI of an enforced client, or the gateway's callback.
      """,
    why: """
      An app that has taken over the scheme or port of another app could otherwise use the id of an observed client, \
      and get the codes of the other app without PKCE.
      """,
    remedy: """
      Use a redirect URI of the client itself. If the client shares this redirect URI with an enforced client, list it \
      under `clients` with this redirect URI, or enforce it too.
      """)

  package static let codeRedirectURIMismatch = Rejection(
    "code-redirect-uri", .invalidGrant, 400, .noRedirect, "redirect_uri differs from the authorization request",
    source: "RFC 6749, section 4.1.3",
    refused: """
      `redirect_uri` is not that of the authorization request, or is missing although the authorization request had \
      one.
      """,
    why: "Otherwise a code that was sent to one redirect URI could be redeemed by the program behind another one.",
    remedy: "Send exactly the same `redirect_uri` again, including a loopback port.")
}
