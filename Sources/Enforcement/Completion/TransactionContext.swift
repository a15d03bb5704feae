import OAuth
import Policy

/// What a running transaction is checked against, in both directions: the policy of now, the clock, the browser.
struct TransactionContext: Sendable {
  let transaction: AuthorizationTransaction
  let policy: Policy
  let now: Int64
  /// True if the browser's secret is the one whose hash the transaction carries.
  let browserMatches: Bool
  /// As the policy has it now; `nil` where it is not there any more.
  let client: Client?

  init(transaction: AuthorizationTransaction, policy: Policy, now: Int64, browserMatches: Bool) {
    self.transaction = transaction
    self.policy = policy
    self.now = now
    self.browserMatches = browserMatches
    client = policy.clients[transaction.clientID]
  }

  /// Where the answer goes. The redirect URI is compared again with what is registered now, so a value that was sealed
  /// before a change, or by mistake, does not stay valid.
  var redirect: VerifiedRedirect? {
    guard let client, client.registers(transaction.redirectURI),
      client.upstream.clientID == transaction.upstreamClientID, client.grants.contains(.authorizationCode)
    else { return nil }
    if case .localhost = transaction.redirectURI.kind, client.localhost == .reject { return nil }
    let mode = transaction.responseMode
    let isAllowed = client.responseModes.contains(mode) && mode.reaches(transaction.redirectURI)
    return VerifiedRedirect(
      redirectURI: transaction.redirectURI, mode: isAllowed ? mode : .query, state: transaction.state,
      issuer: policy.gateway.issuer, isSelfRegistered: client.registration == .dynamic,
      guardsFragment: client.fragmentGuard)
  }
}
