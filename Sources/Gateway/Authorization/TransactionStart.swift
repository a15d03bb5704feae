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
    _ permit: AuthorizationPermit, _ known: BrowserSession?, _ exchange: Interception, id: TransactionID
  ) async throws(StoreError) {
    let now = exchange.now
    let expiry = now + AuthorizationEndpoint.transactionLifetime
    let random = exchange.gateway.random
    session = BrowserSession.beginning(known, permit, until: expiry, now: now, random)
    // Whatever the client sent: its own challenge is between it and the gateway.
    let verifier = permit.sendsChallenge ? UpstreamVerifier(bytes: random.take(UpstreamVerifier.byteCount)) : nil
    transaction = permit.transaction(
      id: id, expiry: expiry, browserSecretHash: session.hash, upstreamVerifier: verifier)
    state = try await exchange.gateway.states.carry(transaction, from: exchange.request.peer, now: now)
    query = permit.upstreamQuery(state: state, challenge: verifier?.challenge)
    cookie = exchange.gateway.snapshot.cookie.field(session, exchange.gateway.sealer)
    exchange.note(permit.challenge, from: transaction.browserSecretHash)
  }
}

extension Interception {
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
