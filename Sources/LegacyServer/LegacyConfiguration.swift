/// What the legacy server knows and how it behaves.
public struct LegacyConfiguration: Sendable {
  /// How clients may prove themselves at the token endpoint (RFC 6749, section 2.3.1).
  public enum Authentication: Sendable {
    case basic
    case post
    /// Either, but not both at once.
    case any
  }

  /// Passwords by user name.
  public var users: [String: String]
  public var clients: [LegacyClient]
  public var authentication: Authentication
  public var quirks: LegacyQuirks
  public var paths: LegacyPaths
  /// Seconds.
  public var codeLifetime: Int
  /// Seconds.
  public var accessTokenLifetime: Int
  /// Seconds.
  public var sessionLifetime: Int
  /// How many codes, sessions and tokens of each sort are kept; the oldest go first. So memory stays bounded however many
  /// flows run; a thousand flows at once fit.
  public var tableLimit: Int

  public init(
    users: [String: String] = ["alice": "wonderland", "bob": "builder"], clients: [LegacyClient],
    authentication: Authentication = .any, quirks: LegacyQuirks = LegacyQuirks(), paths: LegacyPaths = LegacyPaths(),
    codeLifetime: Int = 600, accessTokenLifetime: Int = 3600, sessionLifetime: Int = 3600, tableLimit: Int = 2048
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
