public import OAuth

/// The rules that hold for all clients or for one (`enforcement:` and `clients[]`).
public struct EnforcementSettings: Sendable {
  public var mode = EnforcementMode.enforce
  public var profile = ClientProfile.standard
  public var pkceMethods: Set<CodeChallengeMethod> = [.s256]
  public var pkceSyntax = PKCESyntax.strict
  public var state = StatePolicy.report
  public var localhost = LocalhostPolicy.exact
  public var schemes = SchemeRule.strict
  public var embeddedUserAgents = EmbeddedUserAgentRule.report
  public var pushedAuthorization = PushedAuthorizationPolicy.off
  public var fragmentGuard = false
  /// Seconds.
  public var codeLifetime = 60
  /// Seconds.
  public var deviceCodeLifetime = 600
  /// Seconds; 0: a second use is a reuse at once.
  public var refreshReuseWindow = 0
  /// Seconds.
  public var refreshIdle = 90 * 86_400
  /// Seconds since 1970; `nil`: none are taken.
  public var rawRefreshUntil: Int64?

  public init() {}

  /// The rows of the properties, for `enforcement:` and for a client.
  public static let settings: [Setting<EnforcementSettings>] = [
    .choice(
      "mode", \.mode,
      """
      `enforce`: a refusal is carried out. `observe`: nothing is changed on the wire, and what would be refused is \
      logged and counted, see [observe.md](observe.md)
      """
    ),
    .choice(
      "profile", \.profile,
      """
      The specification that applies where they differ; `oauth_2_1`: PKCE for all clients, and `redirect_uri` may be \
      left out at the token endpoint
      """
    ),
    .choices(
      "pkce_methods", \.pkceMethods,
      "Code challenge methods that are accepted (RFC 7636, section 4.2); `S256` cannot be left out"),
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
      The treatment of a login inside an app's web view (RFC 8252, section 8.12), at the first request and, with \
      `block`, on every page until the login ends; advisory
      """
    ),
    .number(
      "code_lifetime", \.codeLifetime, .seconds(1...600, excess: "codes live at most 10 minutes, use `10m` or less"),
      "The time in which a code can be redeemed (RFC 6749, section 4.1.2)"),
    .number(
      "device_code_lifetime", \.deviceCodeLifetime,
      .seconds(1...1_800, excess: "device codes live at most 30 minutes, use `30m` or less"),
      "The time in which a device code can be used (RFC 8628, section 5.4)"),
    .number(
      "refresh_reuse_window", \.refreshReuseWindow,
      .seconds(0...60, excess: "it is for requests that cross, use `60s` or less"),
      """
      The time in which a refresh token that was just used gives the same answer again, for apps whose requests cross \
      (RFC 9700, section 4.14.2); `0s`: a second use ends all tokens of that login
      """
    ),
    .number(
      "refresh_idle", \.refreshIdle, .seconds(60...10 * 365 * 86_400),
      "The time without use after which a refresh token that the gateway sealed expires (RFC 9700, section 4.14.2)"),
    .number(
      "raw_refresh_until", \.rawRefreshUntil, .date,
      """
      The last day, in UTC, on which refresh tokens from before the gateway are taken; they go upstream with the \
      client's own credentials only (RFC 6749, section 10.4)
      """,
      default: "never"),
    .choice(
      "pushed_authorization", \.pushedAuthorization,
      """
      Pushed authorization requests: clients may, or have to, send them to the gateway's own endpoint, at the path \
      that `upstream.endpoints.pushed_authorization` names (RFC 9126)
      """
    ),
    .flag(
      "fragment_guard", \.fragmentGuard,
      """
      `true`: redirects to https end in `#_`, so that no browser attaches a fragment of an earlier address; never to \
      apps and loopback, which compare addresses (RFC 9700, section 4.1.3)
      """
    ),
  ]
}

/// The rules of the whole policy (`enforcement:`).
public struct PolicyEnforcement: Sendable {
  public var unlistedOAuth = UnlistedOAuth.reject
  public var unknownClients = UnknownClients.reject
  public var redirects = Set(RedirectKind.allCases)
  /// The rules of a client that does not set its own.
  public var defaults = EnforcementSettings()

  public init() {}

  public static let table = SettingTable<PolicyEnforcement>(
    "enforcement", "Rules for all clients; a client may have its own for most of them.",
    [
      .choice(
        "unlisted_oauth", \.unlistedOAuth,
        """
        The treatment of an authorization or token request, in a query or in a form, on a path that `endpoints` does \
        not list, once a client is enforced; `observe` passes it, logs and counts it
        """
      ),
      .choice("unknown_clients", \.unknownClients, "The treatment of a client id that is not listed"),
      .choices(
        "redirects", \.redirects,
        """
        The kinds of redirect URI that native apps may have (RFC 8252, section 7); without one of them the profile of \
        RFC 8252 is not met
        """
      ),
    ] + EnforcementSettings.settings.map { $0.at(\.defaults) }
  ) { PolicyEnforcement() }
}
