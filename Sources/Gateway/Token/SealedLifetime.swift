import OAuth
public import Policy
public import Time

/// The longest time for which a value is valid after the gateway has sealed it. A key may be retired only after this
/// time has passed since the gateway last sealed a value with the key.
///
/// States, consent forms, cookies and links to start a sign-in again live as long as a transaction, and pushed requests
/// for a shorter time. The policy sets the lifetime of codes, of refresh tokens, and of the token responses that are
/// stored for a repeated request (`HeldResponses`).
public struct SealedLifetime: Hashable, Sendable {
  /// The time from the sealing to the expiry of the value.
  public let duration: Seconds
  /// The setting or the value from which the time comes, in words.
  public let origin: String

  private init(_ duration: Seconds, _ origin: String) {
    self.duration = duration
    self.origin = origin
  }

  /// The longest time that any policy permits, for a caller that does not know the policy.
  public static var ofAnyPolicy: SealedLifetime {
    SealedLifetime(EnforcementSettings.maximumRefreshIdle, "the longest `refresh_idle` that a policy may set")
  }

  /// Returns the longest time under a policy.
  public static func longest(under policy: Policy) -> SealedLifetime {
    var longest = SealedLifetime(AuthorizationEndpoint.transactionLifetime, "the time that a user has to sign in")
    if !policy.resources.isEmpty {
      longest = SealedLifetime(
        ResourceSettings.maximumTokenLifetime, "the longest time for which an access token is active")
      if policy.upstream.accessTokenValidity > longest.duration {
        longest = SealedLifetime(policy.upstream.accessTokenValidity, "`upstream.access_token_validity`")
      }
    }
    for client in policy.clients.values.sorted(by: { $0.id.rawValue < $1.id.rawValue }) {
      let lifetimes: [(setting: String, duration: Seconds)] = [
        ("refresh_idle", client.refreshIdle), ("code_lifetime", client.codeLifetime),
        ("refresh_reuse_window", client.refreshReuseWindow),
        ("device_code_lifetime", client.grants.contains(.deviceCode) ? client.deviceCodeLifetime : 0),
      ]
      for (setting, duration) in lifetimes where duration > longest.duration {
        longest = SealedLifetime(duration, "`\(setting)` of client `\(client.id)`")
      }
    }
    let unlisted = [
      (policy.registration?.enforcement, "registered clients"),
      (policy.clientDocuments?.enforcement, "clients with a metadata document"),
    ]
    for case (let rules?, let clients) in unlisted where rules.refreshIdle > longest.duration {
      longest = SealedLifetime(rules.refreshIdle, "`refresh_idle` of \(clients)")
    }
    return longest
  }
}
