import OAuth

extension Rejection {
  /// The browser and the consent of the user.
  static let userInteraction = Subject(
    "The user",
    [
      .userAgentEmbedded, .promptNoneCombined, .consentRequired, .consentDenied, .browserMismatch,
    ])

  package static let userAgentEmbedded = Rejection(
    "user-agent-embedded", .invalidRequest, 403, .noRedirect, "open this page in the browser",
    source: "RFC 8252, section 8.12",
    refused: "The request seems to come from a web view inside an app.",
    why: """
      An app that shows the login page itself can read the password. The detection is advisory: it uses the \
      `User-Agent`, which any program can change.
      """,
    remedy: "Open the authorization request in the system browser or in an in-app browser tab.")

  package static let promptNoneCombined = Rejection(
    "prompt-none-combined", .invalidRequest, 400, .mayRedirect, "prompt=none cannot be combined with other values",
    source: "OpenID Connect Core, section 3.1.2.1",
    refused: "`prompt` had `none` and another value.",
    why: "`none` forbids every page that the other value requires.",
    remedy: "Send `prompt=none` alone, or omit it.")

  package static let consentRequired = Rejection(
    "consent-required", .consentRequired, 400, .mayRedirect, "the user must give consent",
    source: "RFC 8252, section 8.6",
    refused: "A request with `prompt=none` came from a client whose identity the gateway cannot verify.",
    why: "Another app could impersonate this client and get a code without the user's consent.",
    remedy: "Omit `prompt=none`, or set `consent: upstream` for a client whose identity is proven in another way.")

  package static let consentDenied = Rejection(
    "consent-denied", .accessDenied, 403, .mayRedirect, "access was denied",
    source: "RFC 6749, section 4.1.2.1",
    refused: "The user pressed Deny on the gateway's own page.",
    why: "The decision is that of the user.",
    remedy: "Let the user decide when to try again.")

  package static let browserMismatch = Rejection(
    "browser-unbound", .invalidRequest, 400, .noRedirect, "this browser did not begin this request",
    source: "RFC 6749, section 10.12",
    refused: "The browser that continued the sign-in is not the one that began it.",
    why: """
      An attacker may try to complete the attacker's login in the victim's browser, or the victim's login in the \
      attacker's browser.
      """,
    remedy: """
      Start again in the app, and stay in one browser. The page has a link that starts the sign-in again in this \
      browser, unless the gateway does not know the whole request, because it had a parameter such as `nonce`. The link \
      is valid for a quarter of an hour, and contains the app's request only in encrypted form. All rules run when the \
      link is opened, and a refusal is shown on a page and not sent to the app. If the log has the finding \
      `cross-site-post`, the server's sign-in ends with a form of another site (SAML, WS-Federation, `form_post`), to \
      which browsers attach no cookie with `SameSite=Lax`: set `upstream.cross_site_login: true`.
      """)
}
