import Enforcement
import HTTP
import JSON
import OAuth
import Policy
import Stores
import Time

extension InterceptedRequest {
  /// Records the access token of a token response. Returns the response that replaces the token response if the client
  /// must not get the token: because it belongs to another resource or to too many clients, or because the store did not
  /// take the record.
  ///
  /// All tokens are recorded if the policy lists resources, so that a token which was issued without a resource cannot
  /// become a token of one. If it lists none, nothing is recorded.
  ///
  /// - Parameters:
  ///   - members: The members of the upstream's response.
  ///   - revocation: Returns the request that revokes a token if it cannot be recorded; `nil` if the gateway cannot
  ///     revoke it.
  ///   - keptRefreshToken: The refresh token that the client still has and that must not be revoked; `nil` for none.
  func recordAccessToken(
    in members: [String: JSONValue], _ target: AccessTokenTarget,
    revocation: ((Secret, TokenTypeHint) -> UpstreamTokenRequest)?, keptRefreshToken: Secret? = nil
  ) async -> Response? {
    guard !policy.resources.isEmpty, let token = members["access_token"]?.text else { return nil }
    let (scope, isLimited) = target.recordedScope(granted: members["scope"]?.text.flatMap { Scope(parsing: $0) })
    if isLimited { trail.findings.append("scope-wider") }
    let lifetime = InterceptedRequest.statedLifetime(of: members)
    if lifetime == nil { trail.findings.append("token-lifetime-unknown") }
    let active = lifetime ?? target.resource?.accessTokenLifetime ?? ResourceSettings.defaultTokenLifetime
    let record = AccessTokenRecord(
      AccessTokenHolder(clientID: target.client, family: target.family, document: target.document?.outline),
      resource: target.resource?.uri.text, scope: scope, issuedAt: now,
      expiry: now + min(active, ResourceSettings.maximumTokenLifetime),
      end: now + (lifetime ?? policy.upstream.accessTokenValidity))
    let holder = storeHolder(for: target.client)
    do throws(StoreError) {
      if try await gateway.accessTokens.record(Secret(token), record, holder: holder, now: now) { return nil }
      return tokenRejection(.withoutRedirect(.tokenShared))
    } catch {
      trail.findings.append("token-not-recorded")
      if let revocation {
        let tokens = upstreamTokens(in: members).filter { $0.token.reveal() != keptRefreshToken?.reveal() }
        await revoke(tokens, with: revocation)
      }
      return tokenRejection(.withoutRedirect(.storeUnavailable))
    }
  }

  /// Returns the time for which the upstream says that it accepts the token of a response; `nil` if it does not say it.
  /// Zero or less says nothing: some servers mean a token that does not expire.
  private static func statedLifetime(of members: [String: JSONValue]) -> Seconds? {
    guard case .integer(let seconds) = members["expires_in"], seconds > 0 else { return nil }
    return Seconds(Int(min(seconds, Int64(UpstreamSettings.maximumTokenValidity.count))))
  }
}
