public import OAuth

/// What the policy says of one client, with the defaults of `enforcement:` filled in: a value to build and to change. Who
/// only reads has a `Client`.
public struct ClientSettings: Sendable {
  public let id: ClientID
  public var name: String?
  // What takes one byte stands together: a policy may have very many of these.
  public var kind: Client.Kind
  public var application: Client.Application
  public var platform: Client.Platform?
  public var registration: Client.Registration
  public var consent: Consent
  public var mode: Mode
  public var profile: Profile
  public var pkce: Client.PKCE
  public var pkceSyntax: PKCESyntax
  /// Whether it checks the `nonce` of ID tokens, and may therefore leave PKCE out where the profile is OAuth 2.1's.
  public var reliesOnNonce: Bool
  public var state: StateRule
  public var localhost: LocalhostRule
  public var schemes: SchemeRule
  public var embeddedUserAgents: EmbeddedUserAgentRule
  /// Whether it may, or must, push its authorization requests (RFC 9126).
  public var pushedAuthorization: PushedAuthorizationRule
  /// Whether redirects to https end in a fragment of their own (RFC 9700, section 4.1.3).
  public var fragmentGuard: Bool
  public var redirectURIs: [RedirectURI]
  public var grants: Set<GrantType>
  public var pkceMethods: Set<CodeChallengeMethod>
  public var responseModes: Set<ResponseMode>
  /// Seconds, at most 600 (RFC 6749, section 4.1.2).
  public var codeLifetime: Int
  /// Seconds, at most 1800 (RFC 8628, section 5.4).
  public var deviceCodeLifetime: Int
  /// Seconds in which a refresh token that was just used gives the same answer again; 0: it is a reuse at once.
  public var refreshReuseWindow: Int
  /// Where a repeat within `refreshReuseWindow` may come from.
  public var refreshReuseNetworks = RefreshReuseNetworks.same
  /// Seconds without use after which a sealed refresh token expires (RFC 9700, section 4.14.2).
  public var refreshIdle: Int
  /// Seconds since 1970 until which refresh tokens from before the gateway are taken; `nil`: none are.
  public var rawRefreshUntil: Int64?
  /// What a confidential client proves itself with to the gateway.
  public var secret: Secret?
  public var upstream: UpstreamClient

  public init(
    id: ClientID, name: String? = nil, kind: Client.Kind, application: Client.Application,
    platform: Client.Platform? = nil, redirectURIs: [RedirectURI],
    grants: Set<GrantType> = [.authorizationCode, .refreshToken], pkce: Client.PKCE = .required,
    profile: Profile = .standard, reliesOnNonce: Bool = false,
    pkceMethods: Set<CodeChallengeMethod> = [.s256], pkceSyntax: PKCESyntax = .strict,
    responseModes: Set<ResponseMode> = [.query], mode: Mode = .enforce, state: StateRule = .report,
    localhost: LocalhostRule = .exact, schemes: SchemeRule = .strict,
    embeddedUserAgents: EmbeddedUserAgentRule = .report, codeLifetime: Int = 60,
    deviceCodeLifetime: Int = 600, refreshReuseWindow: Int = 0, refreshIdle: Int = 90 * 86_400,
    rawRefreshUntil: Int64? = nil, pushedAuthorization: PushedAuthorizationRule = .off, fragmentGuard: Bool = false,
    consent: Consent, secret: Secret? = nil, upstream: UpstreamClient, registration: Client.Registration = .policy
  ) {
    self.id = id
    self.name = name
    self.kind = kind
    self.application = application
    self.platform = platform
    self.redirectURIs = redirectURIs
    self.grants = grants
    self.pkce = pkce
    self.profile = profile
    self.reliesOnNonce = reliesOnNonce
    self.pkceMethods = pkceMethods
    self.pkceSyntax = pkceSyntax
    self.responseModes = responseModes
    self.mode = mode
    self.state = state
    self.localhost = localhost
    self.schemes = schemes
    self.embeddedUserAgents = embeddedUserAgents
    self.codeLifetime = codeLifetime
    self.deviceCodeLifetime = deviceCodeLifetime
    self.refreshReuseWindow = refreshReuseWindow
    self.refreshIdle = refreshIdle
    self.rawRefreshUntil = rawRefreshUntil
    self.pushedAuthorization = pushedAuthorization
    self.fragmentGuard = fragmentGuard
    self.consent = consent
    self.secret = secret
    self.upstream = upstream
    self.registration = registration
  }
}
