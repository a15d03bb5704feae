import OAuth

/// What the legacy server remembers between requests.
struct LegacyState: Sendable {
  struct Grant: Sendable {
    var user: String
    var clientID: String
    var scope: String
  }

  struct Code: Sendable {
    var grant: Grant
    /// As it stood in the authorization request; `nil` when it was left out.
    var redirectURI: String?
    /// Only with `LegacyQuirks.verifiesPKCE`.
    var challenge: CodeChallenge?
  }

  /// User names by session cookie.
  var sessions: ExpiringTable<String>
  var codes: ExpiringTable<Code>
  var accessTokens: ExpiringTable<Grant>
  var refreshTokens: ExpiringTable<Grant>
  /// User and client pairs that were approved once.
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
