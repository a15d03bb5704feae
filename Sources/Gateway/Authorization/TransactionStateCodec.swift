internal import ByteText
import Cryptography
import Enforcement
import HTTP
import OAuth
import Sealing
import Stores
import Time

/// Converts a transaction to the `state` that the gateway sends upstream, and back.
///
/// The state is the sealed (encrypted and authenticated) transaction. If that is too long for the upstream, the state
/// is a short random handle, and the sealed transaction is in the store.
struct TransactionStateCodec {
  /// The first character of a handle. It distinguishes handles from sealed values: a sealed value begins with its
  /// version byte, whose base64url text does not begin with `h`.
  private static let handlePrefix = "h"
  /// The maximum number of random bytes in a handle. A handle has fewer if it would otherwise be longer than `limit`.
  private static let maximumHandleBytes = 16
  /// The minimum number of random bytes in a handle. A shorter handle could be guessed.
  private static let minimumHandleBytes = 10

  let sealer: Sealer
  let store: any EphemeralStore
  /// The longest state that the upstream accepts, in bytes.
  let limit: Int

  /// Returns false if ``encode(_:from:now:)`` would throw `tooLong` for a transaction of this length.
  func fits(_ transaction: AuthorizationTransaction) -> Bool {
    let length = sealer.seal(transaction).utf8.count
    guard length > limit, case .upTo(let maximum) = StoreKind.state.properties.size else { return true }
    // The store has the bytes that base64url encodes.
    return length * 3 / 4 <= maximum
  }

  /// Returns the state to send upstream.
  ///
  /// Any program can send a request whose transaction is stored, and the entry uses memory for up to 15 minutes. The
  /// store therefore accepts at most 4,096 bytes per transaction, and counts the entry towards the limit of the network
  /// of `peer`. At the limit, the oldest transactions from this network are dropped.
  ///
  /// - Parameters:
  ///   - peer: The browser's address.
  ///   - now: The current time.
  func encode(
    _ transaction: AuthorizationTransaction, from peer: Peer, now: UnixTime
  ) async throws(StoreError) -> String {
    let sealed = sealer.seal(transaction)
    guard sealed.utf8.count > limit else { return sealed }
    // In base64url, four characters encode three bytes.
    let byteLimit = max(
      TransactionStateCodec.minimumHandleBytes, (limit - TransactionStateCodec.handlePrefix.utf8.count) * 3 / 4)
    let secret = randomBytes(min(TransactionStateCodec.maximumHandleBytes, byteLimit))
    let handle = TransactionStateCodec.handlePrefix + Base64URL.encode(secret)
    guard let key = storeKeys(of: handle).first else { throw .unavailable("no key seals") }
    let existing = try await store.put(
      key, sealer.seal(transaction, in: key.binding(store)).storedBytes,
      holder: StoreHolder(address: peer.address, isLoopback: peer.isLoopback), expiry: transaction.expiry, now: now)
    // Short handles may collide. Two transactions must never have the same handle.
    guard existing == nil else { throw .unavailable("the handle is in use") }
    return handle
  }

  /// Returns true if ``open(_:now:)`` may find a transaction. This function does not query the store.
  func mayDecode(_ state: String) -> Bool {
    if isHandle(state) { return true }
    let opened: Opened<AuthorizationTransaction> = sealer.opened(state)
    guard case .value = opened else { return false }
    return true
  }

  private func isHandle(_ state: String) -> Bool {
    // A handle is the prefix and at most 22 characters, which encode 16 bytes.
    state.utf8.count <= 23 && state.hasPrefix(TransactionStateCodec.handlePrefix)
  }

  /// Returns the transaction of a state. The result is `invalid` if the gateway did not create the state, or if the
  /// store no longer contains the transaction of a handle. The result is `keyUnknown` if the key that sealed the state
  /// is not in the key ring.
  ///
  /// Throws if the state may be a handle and the store is unavailable.
  func open(_ state: String, now: UnixTime) async throws(StoreError) -> Opened<AuthorizationTransaction> {
    if isHandle(state) {
      for key in storeKeys(of: state) {
        guard let sealed = try await store.get(key, now: now) else { continue }
        return sealer.opened(String(stored: sealed), in: key.binding(store))
      }
      return .invalid
    }
    return sealer.opened(state)
  }

  /// Returns the store keys under which the transaction of a handle may be stored, one for each decryption key in the
  /// key ring. A store key is a keyed hash of the handle, because short handles can be found from a plain hash by
  /// trying all of them.
  private func storeKeys(of handle: String) -> [StoreKey] {
    sealer.storeNames(of: Array(handle.utf8)).map { StoreKey(.state, hashing: $0) }
  }
}
