public import OAuth
public import Time

/// Rules that `enforcement:` sets for all clients and that an entry of `clients:` may set for one client.
public struct EnforcementSettings: Sendable {
  /// The effect of the rules on a request. Default: the gateway refuses requests that violate a rule.
  public var mode = EnforcementMode.enforce
  /// The specification that applies where the RFCs and the OAuth 2.1 draft differ. Default: the RFCs.
  public var profile = ClientProfile.standard
  /// The accepted code challenge methods (RFC 7636, section 4.2). Default: only `S256`.
  public var pkceMethods: Set<CodeChallengeMethod> = [.s256]
  /// The accepted syntax of code verifiers and challenges. Default: that of RFC 7636, without base64 padding.
  public var pkceSyntax = PKCESyntax.strict
  /// The treatment of an authorization request without `state`. Default: the request passes, and is logged and counted.
  public var state = StatePolicy.report
  /// The rule for redirect URIs with the host `localhost`. Default: such a URI matches only with the listed port.
  public var localhost = LocalhostPolicy.exact
  /// The required form of private-use schemes. Default: a reversed domain name.
  public var schemes = SchemeRule.strict
  /// The treatment of a sign-in in a web view of an app. Default: the sign-in passes, and is logged and counted.
  public var embeddedUserAgents = EmbeddedUserAgentRule.report
  /// The rule for pushed authorization requests. Default: clients may not push.
  public var pushedAuthorization = PushedAuthorizationPolicy.off
  /// True if a redirect to an https URI with the response in the query (`response_mode=query`) ends in `#_`, so that no
  /// browser attaches the fragment of an earlier address (RFC 9700, section 4.1.3). Default: false.
  public var fragmentGuard = false
  /// The lifetime of a code of the gateway (RFC 6749, section 4.1.2). Default: a minute.
  public var codeLifetime: Seconds = 60
  /// The lifetime of a device code (RFC 8628, section 5.4). Default: 10 minutes.
  public var deviceCodeLifetime: Seconds = 600
  /// True if the upstream must ask for the password again when a user signs in for a device (OpenID Connect Core,
  /// section 3.1.2.1). Default: false, because not every server understands `prompt`.
  public var deviceFreshLogin = false
  /// True if a device gets an address that contains the user code (RFC 8628, section 3.3.1). Default: false, because a
  /// user who only follows a link may approve the device of another person.
  public var deviceCompleteURI = false
  /// The time after the first use of a refresh token in which a second use gets the same response (RFC 9700, section
  /// 4.14.2). A later second use ends all refresh tokens of the sign-in. If `nil`, the default depends on the kind of
  /// client (``Client/refreshReuseWindow``).
  public var refreshReuseWindow: Seconds?
  /// The time without use after which a refresh token that the gateway sealed expires. Default: 90 days.
  public var refreshIdle = RefreshGrant.defaultIdleLifetime
  /// The time until which the gateway accepts refresh tokens that the upstream issued before the gateway was installed;
  /// 0 if it never accepts them. `nil` (default) also accepts none, but only a client for which the operator has nothing
  /// to decide may have it (``Client/needsRawRefreshDecision``). The time does not apply to a confidential client that
  /// authenticates to the upstream with its own credentials: the gateway does not seal the refresh tokens of this
  /// client, and accepts those of the upstream at any time.
  public var rawRefreshUntil: UnixTime?

  /// The time for which the gateway remembers in the browser that the user approved a request on the consent page (RFC
  /// 8252, section 8.6). It has an effect only for an https redirect URI of a client for which the operator vouches.
  /// Default: 0, so the user is asked each time.
  public var consentRemembered: Seconds = 0

  /// The longest `consent_remembered` that a policy may set.
  public static let maximumConsentRemembered: Seconds = 30 * 86_400

  /// The longest `refresh_idle` that a policy may set: ten years.
  public static let maximumRefreshIdle: Seconds = 10 * 365 * 86_400

  /// Creates the defaults.
  public init() {}

  /// The rows of these rules. Both the table of `enforcement:` and that of an entry of `clients:` contain them.
  public static let settings: [Setting<EnforcementSettings>] = [
    .choice(
      "mode", \.mode,
      """
      `enforce`: the gateway carries out a refusal. `observe`: it changes nothing on the wire, and logs and counts the \
      requests that it would refuse, see [observe.md](observe.md)
      """
    ),
    .choice(
      "profile", \.profile,
      """
      The specification that applies where specifications differ; `oauth_2_1`: all clients need PKCE, and a token \
      request may omit `redirect_uri`
      """
    ),
    .choices(
      "pkce_methods", \.pkceMethods,
      "Code challenge methods that are accepted (RFC 7636, section 4.2); `S256` is required"),
    .choice(
      "pkce_syntax", \.pkceSyntax,
      "`lenient` accepts base64 padding in verifiers and challenges, and still compares exactly (RFC 7636, section 4.1)"
    ),
    .choice("state", \.state, "The treatment of a request without `state` (RFC 8252, section 8.9)"),
    .choice("localhost", \.localhost, "The rule for the name `localhost` in a redirect URI (RFC 8252, section 8.3)"),
    .choice(
      "schemes", \.schemes,
      """
      The rule for private-use schemes: a reversed domain name, or a name with a period (RFC 8252, sections 7.1 and \
      8.4)
      """
    ),
    .choice(
      "embedded_user_agents", \.embeddedUserAgents,
      """
      The treatment of a sign-in inside an app's web view (RFC 8252, section 8.12), at the first request and, with \
      `block`, on every page until the sign-in ends; advisory, because `User-Agent` proves nothing
      """
    ),
    .seconds(
      "code_lifetime", \.codeLifetime,
      1...600, adviceIfTooLong: "codes live at most 10 minutes, use `10m` or less",
      "The time in which a code can be redeemed (RFC 6749, section 4.1.2)"),
    .seconds(
      "device_code_lifetime", \.deviceCodeLifetime,
      1...1_800, adviceIfTooLong: "device codes live at most 30 minutes, use `30m` or less",
      "The time in which a device code can be used (RFC 8628, section 5.4)"),
    .flag(
      "device_fresh_login", \.deviceFreshLogin,
      """
      `true`: a sign-in for a device has `prompt=login`, so that the server asks for the password even if the browser \
      has a session (OpenID Connect Core, section 3.1.2.1; RFC 8628, section 5.4)
      """
    ),
    .flag(
      "device_complete_uri", \.deviceCompleteURI,
      """
      `true`: devices get `verification_uri_complete`, for example for a QR code; the user still types the code (RFC \
      8628, section 3.3.1)
      """
    ),
    .seconds(
      "refresh_reuse_window", \.refreshReuseWindow,
      0...600, adviceIfTooLong: "it is for requests that overlap or are repeated, use `10m` or less",
      """
      The time in which a second use of a refresh token gets the same answer as the first, for apps whose requests \
      overlap (RFC 9700, section 4.14.2), until the refresh token in that answer is used, and up to 64 times, then 503; \
      `0s`: a second use ends all tokens of that sign-in
      """,
      default: "`30s` for native apps, `0s` for other clients"
    ),
    .seconds(
      "refresh_idle", \.refreshIdle, 60...maximumRefreshIdle,
      """
      The time without use after which a refresh token that the gateway sealed expires (RFC 9700, section 4.14.2). A \
      longer time applies to tokens that are issued later
      """),
    .date(
      "raw_refresh_until", \.rawRefreshUntil, orWord: "never",
      """
      The last day, in UTC, on which the gateway accepts refresh tokens that the upstream issued before the gateway \
      was installed; they go upstream with credentials that the client itself sends or, if a public client sends none, \
      with its `upstream.client_secret` (RFC 6749, section 10.4). \
      `never`: it accepts none, and their users sign in again
      """,
      default: "required for an enforced client whose refresh tokens the gateway seals, else `never`"),
    .choice(
      "pushed_authorization", \.pushedAuthorization,
      """
      Pushed authorization requests: clients may (`optional`) or must (`required`) send them to the gateway, at the \
      path that `upstream.endpoints.pushed_authorization` names (RFC 9126)
      """
    ),
    .seconds(
      "consent_remembered", \.consentRemembered, 0...maximumConsentRemembered,
      adviceIfTooLong: "a browser may get another user, use `720h` or less",
      """
      The time for which the gateway's consent page is skipped in a browser whose user approved the same client, \
      redirect URI, resource and scopes, or more scopes; only for https redirect URIs of clients that are listed and \
      trusted, and never if the request has `prompt` (RFC 8252, section 8.6). `0s`: the page is shown each time
      """
    ),
    .flag(
      "fragment_guard", \.fragmentGuard,
      """
      `true`: redirects to https end in `#_`, so that no browser attaches the fragment of an earlier address; \
      redirects to private-use schemes and loopback never do, because apps compare the address (RFC 9700, section \
      4.1.3)
      """
    ),
  ]
}

/// The settings of `enforcement:`: rules for the whole policy, and the defaults of clients.
public struct PolicyEnforcement: Sendable {
  /// The treatment of an authorization or token request on a path that `endpoints:` does not list. Default: the request
  /// is refused while ``Policy/isEnforcing`` is true.
  public var unlistedOAuth = UnlistedOAuth.reject
  /// The treatment of a client id that the policy does not list. Default: it is refused.
  public var unknownClients = UnknownClients.reject
  /// The kinds of redirect URI that native apps may have. Default: all three, as RFC 8252, section 7, requires.
  public var redirects = Set(RedirectKind.allCases)
  /// The rules for a client whose entry does not set them.
  public var defaults = EnforcementSettings()

  /// Creates the defaults.
  public init() {}

  /// The settings of `enforcement:`.
  public static let table = SettingTable<PolicyEnforcement>(
    "enforcement", "Rules for all clients; a client may override most of them.",
    [
      .choice(
        "unlisted_oauth", \.unlistedOAuth,
        """
        The treatment of an authorization or token request, in a query, a form or JSON, on a path that `endpoints` \
        does not list, while at least one client is enforced; `observe` lets it pass, logs and counts it
        """
      ),
      .choice("unknown_clients", \.unknownClients, "The treatment of a client id that is not listed"),
      .choices(
        "redirects", \.redirects,
        """
        The kinds of redirect URI that native apps may have (RFC 8252, section 7); the profile of RFC 8252 requires all
        """
      ),
    ] + EnforcementSettings.settings.map { $0.nested(at: \.defaults) }
  ) { PolicyEnforcement() }
}
