public import OAuth
public import Time

/// The settings of one client. A setting that is missing in the client's entry of the policy file has the value from
/// `enforcement:` or the default. The reader of policy files creates these settings; other code uses a `Client`.
@dynamicMemberLookup
public struct ClientSettings: Sendable {
  /// The `client_id` in the requests of the client.
  public var id: ClientID
  /// The name of the client on the gateway's pages; `nil` if the pages show its id.
  public var name: String?
  /// The registered redirect URIs. A request must match one of them byte for byte, except that a native app may use
  /// another port in a loopback URI (RFC 8252, section 7.3) and, if the policy permits it, in a `localhost` URI.
  public var redirectURIs: [RedirectURI]
  /// The private-use schemes of the client that need not satisfy the rule of `enforcement`. Only the checks of the policy
  /// file use them. Default: none.
  public var listedSchemes: [String] = []
  /// The grants that the client may use. Default: authorization code and refresh token.
  public var grants: Set<GrantType> = [.authorizationCode, .refreshToken]
  /// The response modes that the client may request. Default: `query`.
  public var responseModes: Set<ResponseMode> = [.query]
  /// The secret with which a confidential client authenticates to the gateway. `nil` for a public client, for a client
  /// that authenticates to the upstream, and for a client that sends its upstream secret to the gateway.
  public var secret: Secret?
  /// The identity of the client at the upstream.
  public var upstream: UpstreamClient
  /// The time until which a public client may also sign in as its old version does: without PKCE, with the secret that the
  /// upstream requires of it (``Client/acceptsOldVersion(at:)``). `nil` (default): each sign-in needs PKCE.
  public var acceptOldVersionUntil: UnixTime?
  /// The rules that apply to the client: its own, or those of the policy.
  public var enforcement = EnforcementSettings()
  // The properties of one byte are next to each other, so that there is no padding between them. A policy may have
  // 100,000 clients.
  /// The client type: public or confidential.
  public var kind: ClientType
  /// The kind of application.
  public var application: Client.Application
  /// The platform of the app; `nil` if it is not known. Only the checks of the policy file use it.
  public var platform: Client.Platform?
  /// The operator's trust in the registration.
  public var registration: Client.Registration
  /// The server that asks the user for consent.
  public var consent: ConsentOwner
  /// The rule for code challenges in authorization requests.
  public var pkce: Client.PKCE
  /// True if a confidential client checks the `nonce` of ID tokens. Under `ClientProfile.oauth21`, it may then omit the
  /// code challenge from a request with a `nonce` (OAuth 2.1, section 7.5.1.1), unless `pkce` is `.required`. Default:
  /// false.
  public var reliesOnNonce = false
  /// The networks from which a second use of a refresh token within `refreshReuseWindow` gets the same response as the
  /// first use.
  public var refreshReuseNetworks = RefreshReuseNetworks.same

  /// Creates settings. Properties that are not arguments have their defaults.
  public init(
    id: ClientID, name: String? = nil, kind: ClientType, application: Client.Application,
    redirectURIs: [RedirectURI], pkce: Client.PKCE = .required, mode: EnforcementMode = .enforce, consent: ConsentOwner,
    secret: Secret? = nil, upstream: UpstreamClient, registration: Client.Registration = .trusted
  ) {
    self.id = id
    self.name = name
    self.kind = kind
    self.application = application
    self.redirectURIs = redirectURIs
    self.pkce = pkce
    self.consent = consent
    self.secret = secret
    self.upstream = upstream
    self.registration = registration
    enforcement.mode = mode
  }

  /// Creates the defaults. The id and the type are placeholders that the reader of policy files replaces.
  public init() {
    self.init(
      id: ClientID(""), kind: .public, application: .native, redirectURIs: [], consent: .gateway,
      upstream: UpstreamClient())
  }

  /// A rule that applies to the client.
  @inlinable
  public subscript<Value>(dynamicMember rule: WritableKeyPath<EnforcementSettings, Value>) -> Value {
    get { enforcement[keyPath: rule] }
    set { enforcement[keyPath: rule] = newValue }
  }

  /// True if the operator vouches for the client (`trusted:`).
  var isTrusted: Bool {
    get { registration == .trusted }
    set { registration = newValue ? .trusted : .untrusted }
  }

  /// The settings of an entry of `clients:`.
  public static let table = SettingTable<ClientSettings>(
    "client", "One client.",
    [
      .customReader(
        "id", .text("up to 256 ASCII characters", pattern: "^[ -~]+$", maximumLength: 256),
        "The `client_id` that it sends",
        adviceIfMissing: "the identifier that it sends as `client_id`"),
      .text("name", \.name, "The name that the gateway's pages show", default: "the id"),
      .choice(
        "type", \.kind, "`confidential` if it can keep a secret (RFC 6749, section 2.1); never guessed",
        adviceIfMissing: "`public` or `confidential`"),
      .choice(
        "application", \.application, "The kind of application", default: "`native` if public, `web` if confidential"),
      .choice(
        "platform", \.platform, "The platform that it runs on; some limits apply to one platform only",
        default: "not known"),
      .customReader(
        "redirect_uris", .list(.text("redirect URIs", maximumLength: 2_048)),
        """
        Complete redirect URIs, compared byte for byte; loopback literals match on any port (RFC 8252, sections 7 and \
        8.4)
        """,
        default: "none"),
      .customReader(
        "grants",
        .choices([
          "authorization_code", "refresh_token", "client_credentials", "device_code", GrantType.deviceCode.rawValue,
        ]),
        "Grants that it may use",
        default: "`authorization_code` and `refresh_token`; for devices `device_code` and `refresh_token`"),
      .choice(
        "pkce", \.pkce,
        """
        PKCE of its authorization requests: `optional` only for clients that are not native, `off` only for \
        confidential ones (RFC 7636; RFC 9700, section 2.1.1)
        """
      ),
      .flag(
        "relies_on_nonce", \.reliesOnNonce,
        """
        `true`: a confidential client checks the `nonce` of ID tokens; under `oauth_2_1`, unless `pkce` is `required`, \
        it may then omit PKCE from a request with a `nonce` (OAuth 2.1, section 7.5.1.1)
        """
      ),
      .flag(
        "trusted", \.isTrusted,
        """
        `false`: the operator does not vouch for it, for example because it registered itself at the upstream. The \
        gateway shows an error as a page with a link instead of a redirect (RFC 9700, section 4.11.2), and asks the \
        user for consent
        """
      ),
      .choices("response_modes", \.responseModes, "Response modes that it may request"),
      .choice(
        "consent", \.consent,
        """
        The server that asks the user for consent (RFC 8252, section 8.6); `unless_claimed_https` means the upstream \
        if the request has a claimed https redirect URI, else the gateway
        """,
        default: "the gateway if the upstream would not ask about exactly this client"),
      .choice(
        "refresh_reuse_networks", \.refreshReuseNetworks,
        """
        The networks from which a repeated refresh request within `refresh_reuse_window` may come: the /24 (IPv4) or \
        /48 (IPv6) of the first use, or any; for the first ten seconds `same` accepts any network too
        """
      ),
      .date(
        "accept_old_version_until", \.acceptOldVersionUntil,
        """
        The last day, in UTC, on which an enforced public client may still sign in without PKCE, if its token request has \
        the secret that the upstream requires of it; for the time in which users update an app. Any program with the secret of \
        the app and a code can use that code (RFC 7636, section 1)
        """,
        default: "each sign-in needs PKCE"),
      .customReader(
        "secret", .section("secret"),
        """
        The secret with which a confidential client authenticates to the gateway, at least 128 random bits; never sent \
        to the upstream
        """,
        default: "none"),
      .customReader("upstream", .section("client_upstream"), "Its identity at the upstream", default: "itself"),
      .customReader(
        "schemes",
        .any([.choice(SchemeRule.allCases.map(\.rawValue)), .list(.text("private-use schemes"), minimumCount: 1)]),
        """
        The rule for private-use schemes, as in `enforcement`, or the schemes of this app that need not satisfy it, such as \
        `[cursor, msal0c1d]`: other apps may use such names, too
        """,
        default: "that of `enforcement`"),
    ]
      + EnforcementSettings.settings.filter { $0.key != "schemes" }.map { $0.nested(at: \.enforcement) }
  ) { ClientSettings() }
}
