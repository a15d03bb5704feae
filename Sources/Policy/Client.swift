public import OAuth

/// One client of the policy, with the defaults of `enforcement:` filled in.
public struct Client: Sendable {
  /// RFC 6749, section 2.1.
  public enum Kind: String, Sendable, CaseIterable {
    case `public`
    case confidential
  }

  public enum Application: String, Sendable, CaseIterable {
    case native
    case web
    case browser
    case device
  }

  /// Who vouches for the client.
  public enum Registration: Sendable {
    /// The operator, in the policy file.
    case policy
    /// Nobody (`trusted: false`): it registered itself (RFC 7591), so users are not sent to it before they did anything
    /// (RFC 9700, section 4.11.2).
    case dynamic
  }

  public enum PKCE: String, Sendable, CaseIterable {
    case required
    case optional
    case off
  }

  /// What the app runs on (RFC 8252, section 8.4 and appendix B).
  public enum Platform: String, Sendable, CaseIterable {
    case ios
    case android
    case macos
    case windows
    /// The Universal Windows Platform, whose schemes have at most 39 characters.
    case uwp
    case linux
  }

  public let id: ClientID
  public var name: String?
  public var kind: Kind
  public var application: Application
  public var platform: Platform?
  public var redirectURIs: [RedirectURI]
  public var grants: Set<GrantType>
  public var pkce: PKCE
  public var profile: Profile
  /// Whether it checks the `nonce` of ID tokens, and may therefore leave PKCE out where the profile is OAuth 2.1's.
  public var reliesOnNonce: Bool
  public var pkceMethods: Set<CodeChallengeMethod>
  public var pkceSyntax: PKCESyntax
  public var responseModes: Set<ResponseMode>
  public var mode: Mode
  public var state: StateRule
  public var localhost: LocalhostRule
  public var schemes: SchemeRule
  public var embeddedUserAgents: EmbeddedUserAgentRule
  /// Seconds, at most 600 (RFC 6749, section 4.1.2).
  public var codeLifetime: Int
  /// Seconds, at most 1800 (RFC 8628, section 5.4).
  public var deviceCodeLifetime: Int
  /// Seconds in which a refresh token that was just used gives the same answer again; 0: it is a reuse at once.
  public var refreshReuseWindow: Int
  /// Seconds without use after which a sealed refresh token expires (RFC 9700, section 4.14.2).
  public var refreshIdle: Int
  /// Seconds since 1970 until which refresh tokens from before the gateway are taken; `nil`: none are.
  public var rawRefreshUntil: Int64?
  /// Whether it may, or must, push its authorization requests (RFC 9126).
  public var pushedAuthorization: PushedAuthorizationRule
  /// Whether redirects to https end in a fragment of their own (RFC 9700, section 4.1.3).
  public var fragmentGuard: Bool
  public var consent: Consent
  /// What a confidential client proves itself with to the gateway.
  public var secret: Secret?
  public var upstream: UpstreamClient
  public var registration: Registration

  public init(
    id: ClientID, name: String? = nil, kind: Kind, application: Application, platform: Platform? = nil,
    redirectURIs: [RedirectURI], grants: Set<GrantType> = [.authorizationCode, .refreshToken], pkce: PKCE = .required,
    profile: Profile = .standard, reliesOnNonce: Bool = false,
    pkceMethods: Set<CodeChallengeMethod> = [.s256], pkceSyntax: PKCESyntax = .strict,
    responseModes: Set<ResponseMode> = [.query], mode: Mode = .enforce, state: StateRule = .report,
    localhost: LocalhostRule = .exact, schemes: SchemeRule = .strict,
    embeddedUserAgents: EmbeddedUserAgentRule = .report, codeLifetime: Int = 60,
    deviceCodeLifetime: Int = 600, refreshReuseWindow: Int = 0, refreshIdle: Int = 90 * 86_400,
    rawRefreshUntil: Int64? = nil, pushedAuthorization: PushedAuthorizationRule = .off, fragmentGuard: Bool = false,
    consent: Consent,
    secret: Secret? = nil, upstream: UpstreamClient,
    registration: Registration = .policy
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

extension Client {
  /// Whether embedded user agents are refused, and not only reported.
  public var blocksEmbeddedUserAgents: Bool { mode == .enforce && embeddedUserAgents == .block }
}

/// Who the client is to the upstream (`clients[].upstream:`).
public struct UpstreamClient: Sendable {
  public enum Authentication: String, Sendable, CaseIterable {
    case basic
    case post
    case none
  }

  public enum RedirectURI: Sendable, Equatable {
    /// The gateway's callback: the default where the gateway holds credentials.
    case callback
    /// The one that the client asked for.
    case requested
    case fixed(String)
  }

  public var clientID: ClientID
  public var clientSecret: Secret?
  public var authentication: Authentication
  public var redirectURI: RedirectURI

  public init(
    clientID: ClientID, clientSecret: Secret? = nil, authentication: Authentication, redirectURI: RedirectURI
  ) {
    self.clientID = clientID
    self.clientSecret = clientSecret
    self.authentication = authentication
    self.redirectURI = redirectURI
  }
}

/// Who asks the user (`I-consent`).
public enum Consent: String, Sendable, CaseIterable {
  case gateway
  case upstream
  /// The gateway, but the upstream where the redirect URI is claimed https, which proves who the app is (RFC 8252,
  /// section 8.6).
  case unlessClaimedHTTPS = "unless_claimed_https"
}

/// Which specification a client is held to where they differ.
public enum Profile: String, Sendable, CaseIterable {
  /// RFC 6749, RFC 7636, RFC 8252 and RFC 9700.
  case standard
  /// The OAuth 2.1 draft: PKCE for all clients, and no `redirect_uri` at the token endpoint.
  case oauth21 = "oauth_2_1"
}

public enum PKCESyntax: String, Sendable, CaseIterable {
  case strict
  /// Accepts base64 padding at the end of a verifier or challenge, and still compares exactly.
  case lenient
}

public enum StateRule: String, Sendable, CaseIterable {
  case require
  case report
  case off
}

/// Whether authorization requests come by way of the gateway's own endpoint for pushed ones (RFC 9126).
public enum PushedAuthorizationRule: String, Sendable, CaseIterable {
  case off
  /// They may be pushed.
  case optional
  /// They have to be (section 6).
  case required
}

/// What the name `localhost` may do in a redirect URI (RFC 8252, section 8.3).
public enum LocalhostRule: String, Sendable, CaseIterable {
  case reject
  case exact
  case anyPort = "any_port"
}

/// What a private-use scheme must look like (RFC 8252, sections 7.1 and 8.4).
public enum SchemeRule: String, Sendable, CaseIterable {
  /// A reversed domain name.
  case strict
  /// At least one period.
  case minimum
}

/// What happens to a user agent that looks embedded (RFC 8252, section 8.12). Advisory: the string proves nothing.
public enum EmbeddedUserAgentRule: String, Sendable, CaseIterable {
  case block
  case report
  case off
}
