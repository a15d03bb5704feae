import OAuth

/// The records that the legacy server keeps between requests.
struct LegacyState: Sendable {
  struct Grant: Sendable {
    var user: String
    var clientID: String
    var scope: String
  }

  struct Code: Sendable {
    var grant: Grant
    /// The redirect URI in the authorization request; `nil` if it was omitted.
    var redirectURI: String?
    /// The challenge; `nil` without `LegacyQuirks.verifiesPKCE`.
    var challenge: CodeChallenge?
  }

  /// The user names by session cookie.
  var sessions: ExpiringTable<String>
  var codes: ExpiringTable<Code>
  var accessTokens: ExpiringTable<Grant>
  var refreshTokens: ExpiringTable<Grant>
  /// The pairs of user and client that were approved once.
  var consents: ExpiringTable<Bool>

  init(_ configuration: LegacyConfiguration) {
    let limit = configuration.tableLimit
    sessions = ExpiringTable(lifetime: configuration.sessionLifetime, limit: limit)
    codes = ExpiringTable(lifetime: configuration.codeLifetime, limit: limit)
    accessTokens = ExpiringTable(lifetime: configuration.accessTokenLifetime, limit: limit)
    // 30 days.
    refreshTokens = ExpiringTable(lifetime: 2_592_000, limit: limit)
    consents = ExpiringTable(lifetime: 2_592_000, limit: limit)
  }
}
