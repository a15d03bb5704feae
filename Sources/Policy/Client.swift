/// One client of the policy.
///
/// A class, because each step of a decision passes the client on, and a copy of the settings would retain and release
/// every string in them.
@dynamicMemberLookup
public final class Client: Sendable {
  /// The kind of application, which decides the redirect URIs and grants that the client may have.
  public enum Application: String, Sendable, CaseIterable {
    /// An app on the user's device (RFC 8252). Only a native app may have private-use and loopback redirect URIs. It
    /// always needs PKCE.
    case native
    /// An application on a web server.
    case web
    /// An application that runs in a browser.
    case browser
    /// A device without a browser (RFC 8628), which has no authorization code grant.
    case device
  }

  /// The origin of a client's registration, which decides whether the operator vouches for it.
  public enum Registration: Sendable {
    /// The operator vouches for the client in the policy file.
    case policy
    /// The operator does not vouch for the client (`trusted: false`), for example because it registered itself
    /// (RFC 7591). The gateway shows errors as a page and does not redirect to the client (RFC 9700, section 4.11.2).
    /// A claimed https redirect URI does not prove its identity.
    case dynamic
  }

  /// The rule for the code challenge of an authorization request (RFC 7636). The gateway verifies every challenge that
  /// a client sends.
  public enum PKCE: String, Sendable, CaseIterable {
    /// A request without a challenge is refused.
    case required
    /// The challenge may be missing. Not for native apps.
    case optional
    /// The challenge may be missing. For confidential clients only.
    case off
  }

  /// The platform that an app runs on (RFC 8252, section 8.4 and appendix B).
  public enum Platform: String, Sendable, CaseIterable {
    case ios
    case android
    case macos
    case windows
    /// The Universal Windows Platform, whose schemes have at most 39 characters.
    case uwp
    case linux
  }

  /// The settings that the subscripts read.
  public let settings: ClientSettings

  /// Creates a client with complete settings: all defaults are filled in.
  public init(_ settings: ClientSettings) {
    self.settings = settings
  }

  /// A setting of the client.
  @inlinable
  public subscript<Value>(dynamicMember setting: KeyPath<ClientSettings, Value>) -> Value { settings[keyPath: setting] }

  /// A rule that applies to the client: its own, or the one of the policy.
  @inlinable
  public subscript<Value>(dynamicMember rule: KeyPath<EnforcementSettings, Value>) -> Value {
    settings.enforcement[keyPath: rule]
  }
}

/// The client type (RFC 6749, section 2.1).
public enum ClientType: String, Sendable, CaseIterable {
  /// Cannot keep a secret.
  case `public`
  /// Authenticates, to the gateway or to the upstream.
  case confidential
}

extension Client {
  /// True if the gateway refuses embedded user agents of the client, instead of only reporting them.
  public var blocksEmbeddedUserAgents: Bool { self.mode == .enforce && self.embeddedUserAgents == .block }
}

/// The server that asks the user for consent (`I-consent`).
public enum ConsentOwner: String, Sendable, CaseIterable {
  /// The gateway shows its own consent page in front of the upstream.
  case gateway
  /// The gateway shows no consent page; the upstream may ask.
  case upstream
  /// As `upstream` if the request has a claimed https redirect URI, which proves the identity of the app (RFC 8252,
  /// section 8.6); else as `gateway`.
  case unlessClaimedHTTPS = "unless_claimed_https"
}

/// The specification that applies to a client where specifications differ.
public enum ClientProfile: String, Sendable, CaseIterable {
  /// RFC 6749, RFC 7636, RFC 8252 and RFC 9700.
  case standard
  /// The OAuth 2.1 draft: all clients need PKCE, and the token request may omit `redirect_uri`.
  case oauth21 = "oauth_2_1"
}

/// The syntax of code verifiers and challenges (RFC 7636, sections 4.1 and 4.2).
public enum PKCESyntax: String, Sendable, CaseIterable {
  /// Only the syntax of RFC 7636.
  case strict
  /// Also accepts base64 padding at the end of a verifier or challenge, and still compares exactly.
  case lenient
}

/// The treatment of an authorization request without `state` (RFC 8252, section 8.9).
public enum StatePolicy: String, Sendable, CaseIterable {
  /// The request is refused.
  case require
  /// The request passes and is logged.
  case report
  /// The request passes.
  case off
}

/// The networks from which a repeated refresh request gets the same answer, within `refresh_reuse_window`.
public enum RefreshReuseNetworks: String, Sendable, CaseIterable {
  /// The /24 (IPv4) or /48 (IPv6) of the first use; any other network for the first ten seconds.
  case same
  /// Every network.
  case any
}

/// The rule for pushed authorization requests (RFC 9126): the client sends the request to the gateway itself, before it
/// opens the browser.
public enum PushedAuthorizationPolicy: String, Sendable, CaseIterable {
  /// The client may not push requests.
  case off
  /// The client may push requests.
  case optional
  /// The client must push every request (section 6).
  case required
}

/// The rule for the name `localhost` in a redirect URI (RFC 8252, section 8.3).
public enum LocalhostPolicy: String, Sendable, CaseIterable {
  /// The policy must not list a redirect URI with it.
  case reject
  /// The redirect URI matches on the listed port only.
  case exact
  /// The redirect URI of a native app matches on any port, as with a loopback literal.
  case anyPort = "any_port"
}

/// The required form of a private-use scheme (RFC 8252, sections 7.1 and 8.4).
public enum SchemeRule: String, Sendable, CaseIterable {
  /// A reversed domain name.
  case strict
  /// A name with at least one period.
  case minimum
}

/// The treatment of a user agent that looks embedded (RFC 8252, section 8.12). Advisory: `User-Agent` proves nothing.
public enum EmbeddedUserAgentRule: String, Sendable, CaseIterable {
  /// Requests are refused, from the first one until the sign-in ends.
  case block
  /// The first request passes and is logged.
  case report
  /// Requests pass; the gateway does not look at the user agent.
  case off
}
