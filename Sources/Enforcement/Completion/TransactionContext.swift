import OAuth
import Policy
import Time

/// The facts for the rules on a running transaction, both for a re-entry and for an authorization response of the
/// upstream.
struct TransactionContext: Sendable {
  let transaction: AuthorizationTransaction
  let policy: Policy
  let now: UnixTime
  /// True if the request contains the secret whose hash is in the transaction, or if it is the request that began the
  /// transaction.
  let browserMatches: Bool
  /// The client in the current policy; `nil` if the policy no longer contains it.
  let client: Client?
  /// The destination of the response; `nil` if the current policy does not permit it.
  let redirect: VerifiedRedirect?

  init(transaction: AuthorizationTransaction, policy: Policy, now: UnixTime, browserMatches: Bool) {
    self.transaction = transaction
    self.policy = policy
    self.now = now
    self.browserMatches = browserMatches
    let client = policy.clients[transaction.clientID]
    self.client = client
    redirect = client.flatMap { TransactionContext.redirect(to: $0, transaction, policy) }
  }

  /// Returns the destination of the response. Compares the redirect URI with the registered ones again, because the policy
  /// may have changed since the state was sealed.
  private static func redirect(
    to client: Client, _ transaction: AuthorizationTransaction, _ policy: Policy
  ) -> VerifiedRedirect? {
    guard client.registers(transaction.redirectURI),
      client.upstream.clientID == transaction.upstreamClientID, client.grants.contains(.authorizationCode)
    else { return nil }
    if case .localhost = transaction.redirectURI.kind, client.localhost == .reject { return nil }
    let mode = transaction.responseMode
    let isAllowed = client.responseModes.contains(mode) && mode.reaches(transaction.redirectURI)
    return VerifiedRedirect(
      redirectURI: transaction.redirectURI, mode: isAllowed ? mode : .query, state: transaction.state,
      issuer: policy.gateway.issuer, isUntrusted: client.registration == .dynamic,
      guardsFragment: client.fragmentGuard)
  }
}
