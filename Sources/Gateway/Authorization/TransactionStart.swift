import Cryptography
import Enforcement
import HTTP
import OAuth
import Stores

/// A transaction that has just begun: its state is sealed and its browser is bound.
final class TransactionStart {
  let transaction: AuthorizationTransaction
  let session: BrowserSession
  /// The text that carries the transaction through the upstream.
  let state: String
  /// The query of the upstream request.
  let query: String
  /// The `Set-Cookie` value that binds the browser.
  let cookie: String

  /// Seals the state and binds the browser.
  ///
  /// Throws if the state must go to the store and the store is full or unavailable.
  ///
  /// - Parameter id: A new id, or the id of the approved consent page.
  init(
    _ permit: AuthorizationPermit, _ known: BrowserSession?, _ intercepted: InterceptedRequest, id: TransactionID
  ) async throws(StoreError) {
    let now = intercepted.now
    let expiry = now + AuthorizationEndpoint.transactionLifetime
    let random = intercepted.gateway.random
    session = BrowserSession.beginning(known, permit, until: expiry, now: now, random)
    // Independent of the client's challenge, which is between the client and the gateway.
    let verifier = permit.sendsChallenge ? UpstreamVerifier(bytes: random.take(UpstreamVerifier.byteCount)) : nil
    transaction = permit.transaction(
      id: id, expiry: expiry, browserSecretHash: session.hash, upstreamVerifier: verifier)
    state = try await intercepted.gateway.states.carry(transaction, from: intercepted.request.peer, now: now)
    query = permit.upstreamQuery(state: state, challenge: verifier?.challenge)
    cookie = intercepted.gateway.snapshot.cookie.field(session, intercepted.gateway.sealer)
    intercepted.note(permit.challenge, from: transaction.browserSecretHash)
  }
}

extension InterceptedRequest {
  /// Returns the id of the transaction that the request begins: the one that its log lines already have, or a new one.
  func transactionID() -> TransactionID {
    if let id = trail.transaction { return id }
    guard let id = TransactionID(bytes: gateway.random.take(TransactionID.byteCount)) else {
      preconditionFailure("16 bytes")
    }
    trail.transaction = id
    return id
  }
}
