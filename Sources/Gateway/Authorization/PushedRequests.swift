internal import ByteText
import Cryptography
import Enforcement
import HTTP
import OAuth
import Policy
import Sealing
import Stores
import Time

/// Stores pushed authorization requests until a browser presents their references (RFC 9126, sections 2.2 and 4). A
/// reference is the client id and the `request_uri` that the client got for the request.
///
/// The key of an entry is a digest of the reference. Another client therefore cannot use the `request_uri`, and a copy
/// of the store does not reveal it.
struct PushedRequests {
  /// The lifetime of a reference. RFC 9126, section 2.2, recommends a short time, and an app opens the browser
  /// immediately after the push.
  static let lifetime: Seconds = 90
  /// The maximum length of a request, in bytes. A request in a URL has to be much shorter, because few servers accept
  /// URLs of more than 8 KiB.
  static let maximumLength = 16_000
  /// The maximum length of a stored request of a public client, in bytes. Any program can send such a request, so the
  /// request may use only little memory.
  private static let maximumPublicLength = 512
  /// The number of random bytes in a reference. 256 bits cannot be guessed (RFC 9126, section 7.1, with RFC 6749,
  /// section 10.10).
  private static let randomLength = 32

  let sealer: Sealer
  let store: any EphemeralStore

  /// Begins the part of an entry that names a browser. No form-encoded query begins with this byte.
  private static let browserMark: UInt8 = 0
  private static let browserHashLength = 32

  /// A pushed request that the store returned.
  struct StoredRequest {
    /// The id of the transaction that the request begins. It is chosen at the push, so that the log lines of the push
    /// and of the sign-in have the same id.
    let transaction: TransactionID
    /// The digest of the browser that used the reference first; `nil` before.
    let browserHash: [UInt8]?
    /// The parameters of the request, form-encoded.
    let query: String
    /// The value of the entry.
    fileprivate let sealed: [UInt8]

    /// Returns true if this browser may use the reference: no browser has used it, or only this one.
    func isOpen(to session: BrowserSession?) -> Bool {
      guard let browserHash else { return true }
      return session?.isBound(to: browserHash) ?? false
    }
  }

  /// Stores a request and returns the `request_uri` that refers to it.
  ///
  /// Each network has a limit for its entries. The entry counts towards the limit of the network from which the request
  /// came, and not towards a limit of the OAuth client. At the limit, the oldest requests from this network are
  /// dropped.
  ///
  /// - Parameters:
  ///   - transaction: The id of the transaction that the request will begin.
  ///   - peer: The address from which the client sent the request.
  ///   - now: The current time.
  func push(
    _ permit: PushedPermit, _ transaction: TransactionID, from peer: Peer, now: UnixTime
  ) async throws(StoreError) -> String {
    let random = Base64URL.encode(randomBytes(PushedRequests.randomLength))
    let reference = PushedReference(clientID: permit.client.id, random: random)
    let key = key(reference)
    let payload = transaction.bytes + Array(permit.query.utf8)
    let sealed = sealer.seal(payload, for: .pushed, in: key.binding(store)).storedBytes
    guard permit.client.kind == .confidential || sealed.count <= PushedRequests.maximumPublicLength else {
      throw .tooLong
    }
    _ = try await store.put(
      key, sealed, holder: StoreHolder(address: peer.address, isLoopback: peer.isLoopback),
      expiry: now + PushedRequests.lifetime, now: now)
    return reference.uri
  }

  /// Returns the stored request for a reference. Returns `nil` if the reference is unknown or has expired, or if
  /// another client pushed the request.
  func find(_ reference: PushedReference, now: UnixTime) async throws(StoreError) -> StoredRequest? {
    let key = key(reference)
    guard let sealed = try await store.get(key, now: now),
      let bytes = try? sealer.open(String(stored: sealed), as: .pushed, in: key.binding(store)),
      let transaction = TransactionID(bytes: Array(bytes.prefix(TransactionID.byteCount)))
    else { return nil }
    var query = bytes.dropFirst(TransactionID.byteCount)
    var browserHash: [UInt8]?
    if query.first == PushedRequests.browserMark {
      browserHash = Array(query.dropFirst().prefix(PushedRequests.browserHashLength))
      query = query.dropFirst(1 + PushedRequests.browserHashLength)
    }
    return StoredRequest(
      transaction: transaction, browserHash: browserHash, query: String(decoding: query, as: UTF8.self), sealed: sealed)
  }

  /// Binds a reference that no browser has used to this one, which may repeat it for another lifetime, for example when
  /// the user reloads the consent page (RFC 9126, section 4). Returns false if the reference is used, expired or gone. If
  /// several browsers present the same reference, only one of the calls returns true.
  func bind(
    _ reference: PushedReference, _ stored: StoredRequest, to session: BrowserSession, now: UnixTime
  ) async throws(StoreError) -> Bool {
    let key = key(reference)
    let payload =
      stored.transaction.bytes + [PushedRequests.browserMark] + session.hash + Array(stored.query.utf8)
    let bound = sealer.seal(payload, for: .pushed, in: key.binding(store)).storedBytes
    do throws(StoreError) {
      return try await store.replace(
        key, stored.sealed, with: bound, expiry: now + PushedRequests.lifetime, now: now)
    } catch {
      switch error {
      // Without room for the digest, the reference works once.
      case .full, .tooLong: return try await store.remove(key, stored.sealed, now: now)
      default: throw error
      }
    }
  }

  private func key(_ reference: PushedReference) -> StoreKey {
    // The digest of the client id has a fixed length, so different references never give the same bytes.
    StoreKey(.pushed, hashing: sha256(Array(reference.clientID.rawValue.utf8)) + Array(reference.uri.utf8))
  }
}
