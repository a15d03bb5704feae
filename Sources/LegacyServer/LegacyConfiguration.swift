public import Time

/// The clients, users, limits and behaviour of the legacy server.
public struct LegacyConfiguration: Sendable {
  /// The ways in which clients may authenticate at the token endpoint (RFC 6749, section 2.3.1).
  public enum Authentication: Sendable {
    /// Only the `Authorization: Basic` field.
    case basic
    /// Only the parameters `client_id` and `client_secret` in the body.
    case post
    /// Either of the two, but not both in one request.
    case any
  }

  /// The password of each user, by user name.
  public var users: [String: String]
  /// The registered clients.
  public var clients: [LegacyClient]
  /// The accepted methods of client authentication.
  public var authentication: Authentication
  /// The deviations from RFC 6749.
  public var quirks: LegacyQuirks
  /// The paths of the OAuth endpoints.
  public var paths: LegacyPaths
  /// The lifetime of a code.
  public var codeLifetime: Seconds
  /// The lifetime of an access token.
  public var accessTokenLifetime: Seconds
  /// The lifetime of a session.
  public var sessionLifetime: Seconds
  /// The maximum number of records of each kind: sessions, codes, access tokens, refresh tokens and consents. If there
  /// are more, the oldest are dropped. The default limits the memory and is enough for a thousand parallel sign-ins.
  public var tableLimit: Int

  /// Creates a configuration, by default with the users `alice` and `bob`.
  public init(
    users: [String: String] = ["alice": "wonderland", "bob": "builder"], clients: [LegacyClient],
    authentication: Authentication = .any, quirks: LegacyQuirks = LegacyQuirks(), paths: LegacyPaths = LegacyPaths(),
    codeLifetime: Seconds = 600, accessTokenLifetime: Seconds = 3600, sessionLifetime: Seconds = 3600,
    tableLimit: Int = 2048
  ) {
    self.users = users
    self.clients = clients
    self.authentication = authentication
    self.quirks = quirks
    self.paths = paths
    self.codeLifetime = codeLifetime
    self.accessTokenLifetime = accessTokenLifetime
    self.sessionLifetime = sessionLifetime
    self.tableLimit = tableLimit
  }
}
