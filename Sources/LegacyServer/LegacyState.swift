import OAuth
import Time

/// The sessions, codes, tokens, consents and device flows of the legacy server.
struct LegacyState: Sendable {
  /// The permission that a code or token represents. A user gave it to a client, except for the grant type
  /// `client_credentials`, in which no user takes part.
  struct Grant: Sendable {
    /// The user name; for `client_credentials`, the name of the client.
    var user: String
    var clientID: String
    var scope: String
  }

  struct Code: Sendable {
    var grant: Grant
    /// The redirect URI in the authorization request; `nil` if the request had none.
    var redirectURI: String?
    /// The challenge of the authorization request; `nil` if the request had none or `LegacyQuirks.verifiesPKCE` is
    /// false.
    var challenge: CodeChallenge?
  }

  /// A device flow (RFC 8628).
  struct Device: Sendable {
    enum Decision: Sendable {
      case pending
      case allowed(user: String)
      case denied
    }

    var clientID: String
    var scope: String
    var decision = Decision.pending
  }

  /// The device flows by their device codes.
  var devices: ExpiringTable<Device>
  /// The device codes by the user codes.
  var userCodes: ExpiringTable<String>
  /// The user name of each session, by the value of the session cookie.
  var sessions: ExpiringTable<String>
  var codes: ExpiringTable<Code>
  var accessTokens: ExpiringTable<Grant>
  var refreshTokens: ExpiringTable<Grant>
  /// The approvals of clients by users. The key is the user name and the client id, separated by a space; the value is
  /// always true.
  var consents: ExpiringTable<Bool>

  init(_ configuration: LegacyConfiguration) {
    let limit = configuration.tableLimit
    sessions = ExpiringTable(lifetime: configuration.sessionLifetime, limit: limit)
    codes = ExpiringTable(lifetime: configuration.codeLifetime, limit: limit)
    devices = ExpiringTable(lifetime: configuration.codeLifetime, limit: limit)
    userCodes = ExpiringTable(lifetime: configuration.codeLifetime, limit: limit)
    accessTokens = ExpiringTable(lifetime: configuration.accessTokenLifetime, limit: limit)
    // Refresh tokens and consents live for 30 days.
    refreshTokens = ExpiringTable(lifetime: 2_592_000, limit: limit)
    consents = ExpiringTable(lifetime: 2_592_000, limit: limit)
  }
}
