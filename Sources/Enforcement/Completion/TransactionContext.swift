import OAuth
import Policy

/// The facts against which a running transaction is checked, in both directions: the current policy, the time, the
/// browser.
struct TransactionContext: Sendable {
  let transaction: AuthorizationTransaction
  let policy: Policy
  let now: Int64
  /// True if the browser presented the secret whose hash the transaction carries.
  let browserMatches: Bool
  /// The client in the current policy; `nil` if the policy no longer contains it.
  let client: Client?

  init(transaction: AuthorizationTransaction, policy: Policy, now: Int64, browserMatches: Bool) {
    self.transaction = transaction
    self.policy = policy
    self.now = now
    self.browserMatches = browserMatches
    client = policy.clients[transaction.clientID]
  }

  /// The destination of the response; `nil` if the current policy does not permit it. The redirect URI is compared
  /// again with the registered ones, so a value that was sealed before a policy change, or by mistake, does not stay
  /// valid.
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
