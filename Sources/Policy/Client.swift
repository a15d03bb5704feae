/// One client of the policy.
///
/// A reference, because a decision hands its client on at each step, and a copy of the settings would count references of
/// each text in them.
@dynamicMemberLookup
public final class Client: Sendable {
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

  public let settings: ClientSettings

  public init(_ settings: ClientSettings) {
    self.settings = settings
  }

  /// A setting of the client.
  @inlinable
  public subscript<Value>(dynamicMember setting: KeyPath<ClientSettings, Value>) -> Value { settings[keyPath: setting] }

  /// A rule that holds for the client.
  @inlinable
  public subscript<Value>(dynamicMember rule: KeyPath<EnforcementSettings, Value>) -> Value {
    settings.enforcement[keyPath: rule]
  }
}

/// The client type of RFC 6749, section 2.1.
public enum ClientType: String, Sendable, CaseIterable {
  case `public`
  case confidential
}

extension Client {
  /// True if embedded user agents are refused, and not only reported.
  public var blocksEmbeddedUserAgents: Bool { self.mode == .enforce && self.embeddedUserAgents == .block }
}

/// Who asks the user (`I-consent`).
public enum ConsentOwner: String, Sendable, CaseIterable {
  case gateway
  case upstream
  /// The gateway, but the upstream where the redirect URI is claimed https, which proves who the app is (RFC 8252,
  /// section 8.6).
  case unlessClaimedHTTPS = "unless_claimed_https"
}

/// Which specification a client is held to where they differ.
public enum ClientProfile: String, Sendable, CaseIterable {
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

public enum StatePolicy: String, Sendable, CaseIterable {
  case require
  case report
  case off
}

/// The networks from which a repeat of a refresh gets the same answer, within `refresh_reuse_window`.
public enum RefreshReuseNetworks: String, Sendable, CaseIterable {
  /// The /24 or /48 of the first use; any other for ten seconds.
  case same
  case any
}

/// The rule for authorization requests that are pushed to the gateway first (RFC 9126).
public enum PushedAuthorizationPolicy: String, Sendable, CaseIterable {
  case off
  /// They may be pushed.
  case optional
  /// They have to be (section 6).
  case required
}

/// What the name `localhost` may do in a redirect URI (RFC 8252, section 8.3).
public enum LocalhostPolicy: String, Sendable, CaseIterable {
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
