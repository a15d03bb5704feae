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
  /// The first character of a handle. No sealed value begins with `h`, because the base64url text of its version byte
  /// does not.
  private static let handlePrefix = "h"
  /// The number of random bytes in a handle, if the upstream accepts a handle of that length.
  private static let maximumHandleBytes = 16
  /// The minimum number of random bytes in a handle; a shorter handle could be guessed.
  private static let minimumHandleBytes = 10

  let sealer: Sealer
  let store: any EphemeralStore
  /// The longest state that the upstream accepts, in bytes.
  let limit: Int

  /// Returns the state to send upstream.
  ///
  /// A stored transaction uses memory for up to 15 minutes, although any program can send the request that causes it.
  /// The store therefore accepts at most 512 bytes, and counts the entry towards the limit of the network of `peer`. At
  /// the limit, the oldest transactions from this network are dropped.
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
    let room = max(
      TransactionStateCodec.minimumHandleBytes, (limit - TransactionStateCodec.handlePrefix.utf8.count) * 3 / 4)
    let secret = randomBytes(min(TransactionStateCodec.maximumHandleBytes, room))
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
    state.hasPrefix(TransactionStateCodec.handlePrefix) && state.utf8.count <= 23
  }

  /// Returns the transaction of a state. The result is `invalid` if the gateway did not create the state.
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

  /// Returns the keys under which the transaction of a handle may be stored, one for each key that decrypts. A store
  /// key is a keyed hash of the handle: a plain hash of a short handle could be reversed by a search.
  private func storeKeys(of handle: String) -> [StoreKey] {
    sealer.storeNames(of: Array(handle.utf8)).map { StoreKey(.state, hashing: $0) }
  }
}

extension StoreKey {
  /// Returns the data that binds a sealed value to this store entry, so that it cannot be decrypted if it is copied to
  /// another entry or comes from an earlier epoch of the store.
  ///
  /// - Parameters:
  ///   - data: Further data to bind the value to, of a fixed length for each kind.
  ///   - secret: A text that is also needed to decrypt the value and that only its owner has.
  func binding(_ store: any EphemeralStore, data: [UInt8] = [], secret: Secret? = nil) -> SealBinding {
    let epoch = store.epoch.rawValue
    let entry = [kind.rawValue] + bytes + (0..<8).map { UInt8(truncatingIfNeeded: epoch >> (8 * UInt64($0))) }
    return SealBinding(data: entry + data, secret: secret)
  }
}

extension String {
  /// The bytes of a sealed value, decoded from base64url: the text would use a third more room in the store.
  var storedBytes: [UInt8] { Base64URL.decode(self) ?? [] }

  /// Creates the text of a sealed value from its `storedBytes`.
  init(stored bytes: [UInt8]) {
    self = Base64URL.encode(bytes)
  }
}

extension InterceptedRequest {
  /// Returns the response to an authorization request whose transaction cannot begin.
  func refusal(_ error: StoreError, for permit: AuthorizationPermit) -> Response {
    switch error {
    case .full, .unavailable: return respond(with: permit.refusal(.storeUnavailable))
    case .tooLong:
      // Show a page, because an error redirect would contain the long state.
      trail.recordRefusal(.parameterMalformed)
      return pages.error(
        ErrorPage(.parameterMalformed, detail: "`state` and `scope` are longer than this server's `state_limit` allows")
      )
    }
  }
}

extension Sealer {
  /// Decrypts a sealed value. The result is `keyUnknown` if no key of the key ring has the key id of the value, and
  /// `invalid` for a retired key and for any text that no key of this gateway sealed.
  func opened<Value: Sealable & Sendable>(_ text: String, in binding: SealBinding? = nil) -> Opened<Value> {
    do throws(OpenError) {
      return .value(try open(Value.self, from: text, in: binding))
    } catch {
      switch error {
      case .unknownKey: return .keyUnknown
      case .malformed, .retiredKey, .notAuthentic: return .invalid
      }
    }
  }
}
