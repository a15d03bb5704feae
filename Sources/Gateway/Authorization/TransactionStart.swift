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

  /// - Parameter id: A fresh id, or the id of the consent page that was approved.
  ///
  /// Throws when the state has to go to the store and that is full or away.
  init(
    _ permit: AuthorizationPermit, _ known: BrowserSession?, _ intercepted: InterceptedRequest, id: TransactionID
  ) async throws(StoreError) {
    let now = intercepted.now
    let expiry = now + AuthorizationEndpoint.transactionLifetime
    let random = intercepted.gateway.random
    session = BrowserSession.beginning(known, permit, until: expiry, now: now, random)
    // Whatever the client sent: its own challenge is between it and the gateway.
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
  /// Returns the id of the transaction that the request begins: the one that its lines in the log have already, or a fresh
  /// one.
  func transactionID() -> TransactionID {
    if let id = trail.transaction { return id }
    guard let id = TransactionID(bytes: gateway.random.take(TransactionID.byteCount)) else {
      preconditionFailure("16 bytes")
    }
    trail.transaction = id
    return id
  }
}
