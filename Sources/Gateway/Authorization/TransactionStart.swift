import Cryptography
import Enforcement
import HTTP
import OAuth
import Policy
import Proxy
import Stores
import Time

/// A new transaction, with its sealed state for the upstream and the cookie that binds it to the browser.
final class TransactionStart {
  let transaction: AuthorizationTransaction
  let session: BrowserSession
  /// The `state` that the gateway sends upstream: the sealed transaction, or a short handle for it.
  let state: String
  /// The path and query of the upstream request.
  let target: String
  /// The `Set-Cookie` value that binds the browser.
  let cookie: String

  /// Starts a transaction: creates its sealed state and the cookie.
  ///
  /// If the sealed state is too long for the upstream, the transaction is stored. In this case, the initializer throws
  /// if the store is full or unavailable, or if the transaction is too long for the store.
  ///
  /// - Parameters:
  ///   - permit: The permission to send the authorization request upstream.
  ///   - known: The session of the browser; `nil` for a new browser.
  ///   - id: The id of the transaction, which earlier log lines of the sign-in may already have.
  ///   - path: The path of the upstream request.
  init(
    _ permit: AuthorizationPermit, _ known: BrowserSession?, _ intercepted: InterceptedRequest, id: TransactionID,
    path: String
  ) async throws(StoreError) {
    let now = intercepted.now
    let expiry = now + AuthorizationEndpoint.transactionLifetime
    let random = intercepted.gateway.random
    session = BrowserSession.continuing(known, permit, until: expiry, now: now, random)
    // The verifier for the upstream is independent of the client's challenge, which only the gateway checks.
    let verifier = permit.upstreamUsesPKCE ? UpstreamVerifier(bytes: random.take(UpstreamVerifier.byteCount)) : nil
    var transaction = permit.transaction(
      id: id, expiry: expiry, browserSecretHash: session.hash, upstreamVerifier: verifier,
      document: intercepted.documentToSeal(for: permit), registration: intercepted.registrationToSeal(for: permit))
    transaction.binding.client.upstreamAddress = intercepted.upstream.chooseAddress(for: intercepted.request)
    self.transaction = transaction
    state = try await intercepted.gateway.states.encode(transaction, from: intercepted.request.peer, now: now)
    target = permit.upstreamQuery(state: state, challenge: verifier?.challenge, after: path, "?")
    cookie = intercepted.gateway.snapshot.cookie.setCookieValue(for: session, intercepted.gateway.sealer)
    intercepted.recordReuseAcrossBrowsers(of: permit.challenge, browserHash: transaction.browserSecretHash)
  }

  /// The number of bytes in `state`, `scope` and the redirect URI of a listed client up to which a transaction fits into
  /// each server's `state` or into the store: the rest of a transaction has less than 1,024 bytes.
  private static let alwaysFitting = 2_048

  /// Returns false if the transaction of the permit cannot begin, because it is too long for the upstream and for the
  /// store. Nearly all requests are so short that nothing has to be sealed to know this.
  static func fits(_ permit: AuthorizationPermit, _ intercepted: InterceptedRequest) -> Bool {
    let variable =
      (permit.state?.utf8.count ?? 0) + (permit.scope?.text.utf8.count ?? 0) + permit.redirectURI.text.utf8.count
    if variable <= alwaysFitting, !permit.client.isUnlisted { return true }
    // Values of the same length as those of a transaction that begins.
    var transaction = permit.transaction(
      id: intercepted.ensureTransactionID(), expiry: intercepted.now + AuthorizationEndpoint.transactionLifetime,
      browserSecretHash: [UInt8](repeating: 0, count: 32),
      upstreamVerifier: permit.upstreamUsesPKCE
        ? UpstreamVerifier(bytes: [UInt8](repeating: 0, count: UpstreamVerifier.byteCount)) : nil,
      document: intercepted.documentToSeal(for: permit), registration: intercepted.registrationToSeal(for: permit))
    transaction.binding.client.upstreamAddress = UInt16.max
    return intercepted.gateway.states.fits(transaction)
  }
}

extension InterceptedRequest {
  /// Returns the id of the transaction that this request begins. If no id is recorded for the log yet, creates and
  /// records one.
  func ensureTransactionID() -> TransactionID {
    if let id = trail.transaction { return id }
    guard let id = TransactionID(bytes: gateway.random.take(TransactionID.byteCount)) else {
      preconditionFailure("16 bytes")
    }
    trail.transaction = id
    return id
  }
}
