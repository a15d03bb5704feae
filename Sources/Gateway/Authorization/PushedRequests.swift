import Cryptography
import Enforcement
import HTTP
import OAuth
import Policy
import Sealing
import Stores

/// Keeps authorization requests between their push and their use by the browser (RFC 9126, sections 2.2 and 4).
///
/// The key of an entry is a digest of the client and of the random reference: another client cannot use the reference,
/// and a copy of the store contains no reference.
struct PushedRequests {
  /// The lifetime, in seconds. The app opens the browser at once; RFC 9126, section 2.2, recommends a short time.
  static let lifetime: Int64 = 90
  /// The longest request of a client that authenticated, in bytes. Far more than any request in a URL:
  /// few servers accept URLs of more than 8 KiB.
  static let longest = 16_000
  /// The longest stored request of a client without authentication, in bytes: any program can send such a request, so
  /// it must be short.
  private static let longestUnproven = 512
  /// 256 bits cannot be guessed (RFC 9126, section 7.1, with RFC 6749, section 10.10).
  private static let randomBytesOfReference = 32

  let sealer: Sealer
  let store: any EphemeralStore

  /// A pushed request that the store returned.
  struct Kept {
    /// The transaction that the request begins. Its id is chosen at the push, so that the log shows one flow.
    let transaction: TransactionID
    let query: String
  }

  /// Stores a request and returns the `request_uri` that refers to it.
  ///
  /// The entry is charged to the address alone, and the oldest requests of that address are dropped to make room.
  /// - Parameters:
  ///   - transaction: The id of the transaction that the request will begin.
  ///   - peer: The client's address.
  ///   - now: Seconds since 1970.
  func push(
    _ permit: PushedPermit, _ transaction: TransactionID, from peer: Peer, now: Int64
  ) async throws(StoreError) -> String {
    let random = Base64URL.encode(randomBytes(PushedRequests.randomBytesOfReference))
    let reference = PushedReference(clientID: permit.client.id, random: random)
    let key = key(reference)
    let payload = transaction.bytes + Array(permit.query.utf8)
    let sealed = sealer.seal(payload, for: .pushed, in: key.binding(store)).storedBytes
    guard permit.client.kind == .confidential || sealed.count <= PushedRequests.longestUnproven else { throw .tooLong }
    _ = try await store.put(
      key, sealed, holder: StoreHolder(address: peer.address, isLoopback: peer.isLoopback),
      expiry: now + PushedRequests.lifetime, now: now)
    return reference.uri
  }

  /// Returns the request that a reference of this client refers to, or `nil`.
  func find(_ reference: PushedReference, now: Int64) async throws(StoreError) -> Kept? {
    let key = key(reference)
    guard let sealed = try await store.get(key, now: now),
      let bytes = try? sealer.open(String(stored: sealed), as: .pushed, in: key.binding(store)),
      let transaction = TransactionID(bytes: Array(bytes.prefix(TransactionID.byteCount)))
    else { return nil }
    return Kept(
      transaction: transaction, query: String(decoding: bytes.dropFirst(TransactionID.byteCount), as: UTF8.self))
  }

  /// Removes a reference and returns true if it existed. If several browsers use it, only one succeeds.
  func take(_ reference: PushedReference, now: Int64) async throws(StoreError) -> Bool {
    try await store.take(key(reference), now: now) != nil
  }

  private func key(_ reference: PushedReference) -> StoreKey {
    // A digest has a fixed length, so no client id can extend into the reference.
    StoreKey(.pushed, hashing: sha256(Array(reference.clientID.rawValue.utf8)) + Array(reference.uri.utf8))
  }
}
