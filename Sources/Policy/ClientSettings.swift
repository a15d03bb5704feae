public import OAuth

/// The settings of one client, with the defaults of `enforcement:` filled in: a value to build and to change. Code that
/// only reads has a `Client`.
@dynamicMemberLookup
public struct ClientSettings: Sendable {
  public var id: ClientID
  public var name: String?
  public var redirectURIs: [RedirectURI]
  public var grants: Set<GrantType> = [.authorizationCode, .refreshToken]
  public var responseModes: Set<ResponseMode> = [.query]
  /// The secret with which a confidential client authenticates to the gateway.
  public var secret: Secret?
  public var upstream: UpstreamClient
  /// The rules that hold for it, its own or those of the policy.
  public var enforcement = EnforcementSettings()
  // Properties of one byte are adjacent: a policy may have very many of these values.
  public var kind: ClientType
  public var application: Client.Application
  public var platform: Client.Platform?
  public var registration: Client.Registration
  public var consent: ConsentOwner
  public var pkce: Client.PKCE
  public var reliesOnNonce = false
  /// The networks from which a repeat within `refreshReuseWindow` may come.
  public var refreshReuseNetworks = RefreshReuseNetworks.same

  public init(
    id: ClientID, name: String? = nil, kind: ClientType, application: Client.Application,
    redirectURIs: [RedirectURI], pkce: Client.PKCE = .required, mode: EnforcementMode = .enforce, consent: ConsentOwner,
    secret: Secret? = nil, upstream: UpstreamClient, registration: Client.Registration = .policy
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

  /// The settings of a client that sets nothing, until its id and type are known.
  public init() {
    self.init(
      id: ClientID(""), kind: .public, application: .native, redirectURIs: [], consent: .gateway,
      upstream: UpstreamClient())
  }

  /// A rule that holds for the client.
  @inlinable
  public subscript<Value>(dynamicMember rule: WritableKeyPath<EnforcementSettings, Value>) -> Value {
    get { enforcement[keyPath: rule] }
    set { enforcement[keyPath: rule] = newValue }
  }

  /// `trusted:`.
  var isTrusted: Bool {
    get { registration == .policy }
    set { registration = newValue ? .policy : .dynamic }
  }

  public static let table = SettingTable<ClientSettings>(
    "client", "One client.",
    [
      .other(
        "id", .text("up to 256 ASCII characters", pattern: "^[ -~]+$", longest: 256), "The `client_id` that it sends",
        required: "the identifier that it sends as `client_id`"),
      .text("name", \.name, "The name that pages show", default: "the id"),
      .choice(
        "type", \.kind, "`confidential` if it can keep a secret (RFC 6749, section 2.1); never guessed",
        required: "`public` or `confidential`"),
      .choice(
        "application", \.application, "The kind of application", default: "`native` if public, `web` if confidential"),
      .choice(
        "platform", \.platform, "The platform that it runs on; some limits hold for one platform only",
        default: "not known"),
      .other(
        "redirect_uris", .list(.text("redirect URIs", longest: 2_048)),
        """
        Complete redirect URIs, compared byte for byte; loopback literals match on any port (RFC 8252, sections 7 and \
        8.4)
        """,
        default: "none"),
      .other(
        "grants",
        .choices([
          "authorization_code", "refresh_token", "client_credentials", "device_code", GrantType.deviceCode.rawValue,
        ]),
        "Grants that it may use",
        default: "`authorization_code` and `refresh_token`; of devices `device_code` and `refresh_token`"),
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
        Under `oauth_2_1`: a confidential client that checks the `nonce` of ID tokens; with `pkce: optional` it may \
        leave PKCE out where it sends one (OAuth 2.1, section 7.5.1.1)
        """
      ),
      .flag(
        "trusted", \.isTrusted,
        """
        `false`: the operator does not vouch for it, for example because it registered itself at the upstream. Errors \
        come as a page with a link instead of a redirect (RFC 9700, section 4.11.2), and the gateway asks the user
        """
      ),
      .choices("response_modes", \.responseModes, "Response modes that it may ask for"),
      .choice(
        "consent", \.consent,
        """
        The server that asks the user for consent (RFC 8252, section 8.6); `unless_claimed_https` leaves it to the \
        upstream where the request has a claimed https redirect URI
        """,
        default: "the gateway where the upstream would not ask about this very client"),
      .choice(
        "refresh_reuse_networks", \.refreshReuseNetworks,
        """
        The networks from which a repeat within `refresh_reuse_window` may come: the /24 or /48 of the first use, or \
        any; `same` forgives another network for ten seconds
        """
      ),
      .other(
        "secret", .section("secret"),
        """
        The secret with which a confidential client authenticates to the gateway, at least 128 random bits; never sent \
        to the upstream
        """,
        default: "none"),
      .other("upstream", .section("client_upstream"), "Its identity at the upstream", default: "itself"),
    ] + EnforcementSettings.settings.map { $0.at(\.enforcement) }
  ) { ClientSettings() }
}
