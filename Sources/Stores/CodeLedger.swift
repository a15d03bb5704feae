public import OAuth
public import Time

/// The owner of each upstream code: the transaction in which the gateway received the code first (invariant
/// `I-completion`).
///
/// A code that arrives in a second transaction may have been stolen from the first one, e.g. through an open redirect
/// of the upstream. So the gateway issues no code of its own for it in the second transaction, whatever the client of
/// either transaction is: some servers do not check to which client they issued a code. The store keeps an entry at
/// least as long as the upstream accepts the code, because it never evicts entries of this kind.
public struct CodeLedger: Sendable {
  /// The owner of a code that was passed to a client outside of any transaction: all zeros. Transaction ids are random,
  /// so none of them equals it.
  private static let noTransaction = [UInt8](repeating: 0, count: TransactionID.byteCount)

  private let store: any EphemeralStore

  /// Creates a ledger that keeps its entries in `store`.
  public init(store: any EphemeralStore) {
    self.store = store
  }

  /// Claims a code for a transaction. Returns false if the code belongs to another owner.
  ///
  /// - Parameters:
  ///   - holder: the client and network that the entry is charged to.
  ///   - lifetime: the time for which the upstream accepts the code.
  ///   - now: the current time.
  public func claim(
    _ code: UpstreamCodeDigest, for transaction: TransactionID, holder: StoreHolder, lifetime: Seconds, now: UnixTime
  ) async throws(StoreError) -> Bool {
    try await claim(code, owner: transaction.bytes, holder: holder, lifetime: lifetime, now: now)
  }

  /// Claims a code that is passed to a client outside of any transaction. Returns false if a transaction owns
  /// the code.
  public func claimWithoutTransaction(
    _ code: UpstreamCodeDigest, holder: StoreHolder, lifetime: Seconds, now: UnixTime
  ) async throws(StoreError) -> Bool {
    try await claim(code, owner: CodeLedger.noTransaction, holder: holder, lifetime: lifetime, now: now)
  }

  /// Returns true if a transaction owns the code.
  public func isOwned(_ code: UpstreamCodeDigest, now: UnixTime) async throws(StoreError) -> Bool {
    guard let owner = try await store.get(CodeLedger.key(code), now: now) else { return false }
    return owner != CodeLedger.noTransaction
  }

  private func claim(
    _ code: UpstreamCodeDigest, owner: [UInt8], holder: StoreHolder, lifetime: Seconds, now: UnixTime
  ) async throws(StoreError) -> Bool {
    let expiry = now + lifetime + store.clockTolerance
    let existing = try await store.put(CodeLedger.key(code), owner, holder: holder, expiry: expiry, now: now)
    // The same owner may claim a code twice: the upstream may send the same response twice, e.g. if the user goes back.
    return existing == nil || existing == owner
  }

  /// Returns the key of the code's record. The id in the key has the form of a transaction's id, but is made from the
  /// digest of the code.
  private static func key(_ code: UpstreamCodeDigest) -> StoreKey {
    StoreKey(.code, id: TransactionID(ofClaimOn: code))
  }
}
