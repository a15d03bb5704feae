import OAuth
public import Time

/// One client of the policy.
///
/// This is a class because each step of a decision passes the client on, and a copy of a struct would retain and
/// release every string in it.
@dynamicMemberLookup
public final class Client: Sendable {
  /// The kind of application. It determines the redirect URIs and grants that the client may have.
  public enum Application: String, Sendable, CaseIterable {
    /// An app on the user's device (RFC 8252). Only a native app may have private-use and loopback redirect URIs, and
    /// it must use PKCE.
    case native
    /// An application on a web server.
    case web
    /// An application that runs in a browser.
    case browser
    /// A device without a browser (RFC 8628). It cannot use the authorization code grant.
    case device
  }

  /// The operator's trust in the registration of a client (`trusted:` in its entry).
  public enum Registration: Sendable {
    /// The operator vouches for the client.
    case trusted
    /// The operator does not vouch for the client, for example because it registered itself (RFC 7591). The gateway
    /// shows an error as a page instead of a redirect to the client (RFC 9700, section 4.11.2), and a claimed https
    /// redirect URI does not prove the identity of the client.
    case untrusted
    /// The same as `untrusted`, for an id that is the URL of a metadata document which the request does not contain. The
    /// client may use no code or refresh token.
    case undescribed
  }

  /// The rule for the code challenge of an authorization request (RFC 7636). If a client sends a challenge, it is
  /// always verified.
  public enum PKCE: String, Sendable, CaseIterable {
    /// A request without a challenge is refused.
    case required
    /// A request may omit the challenge. Native apps cannot have this rule. Under `ClientProfile.oauth21`, only a
    /// confidential client with `reliesOnNonce` may omit the challenge, and only from a request with a `nonce`.
    case optional
    /// The same as `optional`, except that only confidential clients can have this rule.
    case off
  }

  /// The platform of an app (RFC 8252, section 8.4 and appendix B).
  public enum Platform: String, Sendable, CaseIterable {
    case ios
    case android
    case macos
    case windows
    /// The Universal Windows Platform, in which schemes have at most 39 characters.
    case uwp
    case linux
  }

  /// The settings of the client. The subscripts read them, so that `client.name` is `client.settings.name`.
  public let settings: ClientSettings
  /// The scope tokens that a client may request which the policy does not list (`UnlistedClientRules`); `nil` for a
  /// listed client, which may request any.
  public let allowedScopes: Set<String>?
  /// The identifiers of the resources that such a client may request; `nil` for a listed client, which may request any.
  public let allowedResources: Set<String>?

  /// Creates a client from settings in which all defaults are filled in.
  ///
  /// - Parameters:
  ///   - allowedScopes: The scope tokens that an unlisted client may request; `nil` for a listed client.
  ///   - allowedResources: The resources that an unlisted client may request; `nil` for a listed client.
  public init(_ settings: ClientSettings, allowedScopes: Set<String>? = nil, allowedResources: Set<String>? = nil) {
    self.settings = settings
    self.allowedScopes = allowedScopes
    self.allowedResources = allowedResources
  }

  /// The time in which a second use of a refresh token gets the same response as the first. 0: a second use ends the
  /// family of the token.
  ///
  /// The default for a public native app is long enough for two processes of the app that refresh at the same time, and
  /// for a repeat after a lost response. A native app cannot coordinate its processes. With a default of 0, its user
  /// would have to sign in again in these cases. The default for any other client is 0.
  public var refreshReuseWindow: Seconds {
    settings.enforcement.refreshReuseWindow ?? (settings.application == .native && settings.kind == .public ? 30 : 0)
  }

  /// A setting of the client.
  @inlinable
  public subscript<Value>(dynamicMember setting: KeyPath<ClientSettings, Value>) -> Value { settings[keyPath: setting] }

  /// A rule that applies to the client: its own, or that of the policy.
  @inlinable
  public subscript<Value>(dynamicMember rule: KeyPath<EnforcementSettings, Value>) -> Value {
    settings.enforcement[keyPath: rule]
  }
}

/// The client type (RFC 6749, section 2.1).
public enum ClientType: String, Sendable, CaseIterable {
  /// A client that cannot keep a secret.
  case `public`
  /// A client that authenticates, to the gateway or to the upstream.
  case confidential
}

extension Client {
  /// True if the client is not listed in the policy, so that its metadata come from itself (`UnlistedClientRules`).
  public var isUnlisted: Bool { allowedScopes != nil }

  /// True if the client gets the upstream's refresh tokens unsealed: it is confidential, and authenticates to the
  /// upstream with its own id and credentials.
  public var keepsUpstreamRefreshTokens: Bool {
    self.kind == .confidential && self.upstream.clientID == self.id && self.upstream.clientSecret == nil
  }

  /// True if the policy must set `raw_refresh_until` for the client: it is enforced, has the grant `refresh_token`, and
  /// gets refresh tokens that the gateway seals. Users of such a client who hold refresh tokens from before the gateway
  /// would have to sign in again.
  public var needsRawRefreshDecision: Bool {
    self.mode == .enforce && self.grants.contains(.refreshToken) && !keepsUpstreamRefreshTokens
  }

  /// Returns true if the client may sign in as its old version does: an authorization request may omit the code challenge,
  /// and the token request then needs credentials of the client, which the upstream compares. A client with another id
  /// upstream has none that the upstream knows.
  public func acceptsOldVersion(at now: UnixTime) -> Bool {
    guard let end = self.acceptOldVersionUntil, now < end else { return false }
    return self.kind == .public && self.profile == .standard && self.upstream.clientID == self.id
  }

  /// True if the server gets no credentials in token requests of the client once it is enforced, even if the app sends some:
  /// the gateway holds none, and credentials of a public client, a secret for the gateway and those of another id do not go
  /// upstream.
  public var dropsCredentials: Bool {
    self.upstream.clientSecret == nil && self.acceptOldVersionUntil == nil
      && (self.kind == .public || self.secret != nil || self.upstream.clientID != self.id)
  }

  /// True if the gateway refuses sign-ins of the client in embedded user agents (web views of an app). If false, the
  /// gateway at most logs and counts them.
  public var blocksEmbeddedUserAgents: Bool { self.mode == .enforce && self.embeddedUserAgents == .block }
}

/// The server that asks the user for consent (invariant `I-consent`).
public enum ConsentOwner: String, Sendable, CaseIterable {
  /// The gateway, with a consent page that it shows before it contacts the upstream.
  case gateway
  /// The upstream, if it asks at all. The gateway shows no consent page.
  case upstream
  /// The upstream if the operator vouches for the client and the request has a claimed https redirect URI, because this
  /// URI proves the identity of the app (RFC 8252, section 8.6). For any other request, the gateway.
  case unlessClaimedHTTPS = "unless_claimed_https"
}

/// The specification that applies to a client where the RFCs and the OAuth 2.1 draft differ.
public enum ClientProfile: String, Sendable, CaseIterable {
  /// RFC 6749, RFC 7636, RFC 8252 and RFC 9700.
  case standard
  /// The OAuth 2.1 draft. A client needs PKCE, unless it is confidential and checks the `nonce` of ID tokens. A token
  /// request may omit `redirect_uri` if the authorization request had a code challenge.
  case oauth21 = "oauth_2_1"
}

/// The accepted syntax of code verifiers and challenges (RFC 7636, sections 4.1 and 4.2).
public enum PKCESyntax: String, Sendable, CaseIterable {
  /// Only the syntax of RFC 7636.
  case strict
  /// Also accepts the characters `+`, `/` and `=` of standard base64 in a verifier and in a plain challenge, and the
  /// padding `=` at the end of an S256 challenge. The gateway removes the padding of an S256 challenge. It uses a
  /// verifier exactly as the client sent it.
  case lenient
}

/// The treatment of an authorization request without `state` (RFC 8252, section 8.9).
public enum StatePolicy: String, Sendable, CaseIterable {
  /// The request is refused.
  case require
  /// The request passes, and the gateway logs and counts it.
  case report
  /// The request passes.
  case off
}

/// The networks from which a second use of a refresh token gets the same response as the first, within
/// `refresh_reuse_window`.
public enum RefreshReuseNetworks: String, Sendable, CaseIterable {
  /// The /24 (IPv4) or /48 (IPv6) of the first use and, for the first ten seconds, any other network.
  case same
  /// Every network.
  case any
}

/// The rule for pushed authorization requests (RFC 9126): the client sends the request to the gateway before it opens
/// the browser.
public enum PushedAuthorizationPolicy: String, Sendable, CaseIterable {
  /// The client may not push requests.
  case off
  /// The client may push requests.
  case optional
  /// The client must push every authorization request (section 6).
  case required
}

/// The rule for the name `localhost` in a redirect URI (RFC 8252, section 8.3).
public enum LocalhostPolicy: String, Sendable, CaseIterable {
  /// No redirect URI may use the name `localhost`. The policy must not list a redirect URI with this name, either.
  case reject
  /// A redirect URI matches only with the listed port.
  case exact
  /// A redirect URI of a native app that is listed without a port matches with any port. One with a port matches only
  /// with this port.
  case portless
  /// A redirect URI of a native app matches with any port, as with a loopback literal.
  case anyPort = "any_port"
}

/// The required form of a private-use scheme (RFC 8252, sections 7.1 and 8.4).
public enum SchemeRule: String, Sendable, CaseIterable {
  /// The scheme must be a reversed domain name.
  case strict
  /// The scheme must contain at least one period.
  case minimum
}

/// The treatment of a user agent that looks embedded (RFC 8252, section 8.12). The rule is advisory, because
/// `User-Agent` proves nothing.
public enum EmbeddedUserAgentRule: String, Sendable, CaseIterable {
  /// The gateway refuses all requests of the sign-in, from the first one until the sign-in ends.
  case block
  /// The first request of the sign-in passes, and the gateway logs and counts it. Later requests are not checked.
  case report
  /// The gateway does not check the user agent.
  case off
}
