import Cryptography
import Enforcement
import HTTP
import OAuth
import Sealing
import Stores

/// Carries a transaction through the upstream: sealed in the state itself, or behind a short handle if the upstream
/// does not accept a state of that length.
struct TransactionStateCodec {
  /// The first character of a handle. No sealed value begins with it: base64url of a version byte is never `h`.
  private static let prefix = "h"
  private static let randomBytesOfHandle = 16
  /// The fewest random bytes of a handle; a shorter one could be guessed.
  private static let fewestRandomBytes = 10

  let sealer: Sealer
  let store: any EphemeralStore
  /// The longest state that the upstream accepts, in bytes.
  let limit: Int

  /// Returns the state to send upstream.
  ///
  /// A state behind a handle takes memory for a quarter of an hour, for a request that proves nothing. It is therefore
  /// at most 512 bytes long and is charged to the address alone, whose oldest states are dropped to make room.
  ///
  /// - Parameters:
  ///   - peer: The browser's address.
  ///   - now: Seconds since 1970.
  func carry(_ transaction: AuthorizationTransaction, from peer: Peer, now: Int64) async throws(StoreError) -> String {
    let sealed = sealer.seal(transaction)
    guard sealed.utf8.count > limit else { return sealed }
    // Four characters encode three bytes.
    let room = max(TransactionStateCodec.fewestRandomBytes, (limit - TransactionStateCodec.prefix.utf8.count) * 3 / 4)
    let secret = randomBytes(min(TransactionStateCodec.randomBytesOfHandle, room))
    let handle = TransactionStateCodec.prefix + Base64URL.encode(secret)
    guard let key = keys(handle).first else { throw .unavailable("no key seals") }
    let existing = try await store.put(
      key, sealer.seal(transaction, in: key.binding(store)).storedBytes,
      holder: StoreHolder(address: peer.address, isLoopback: peer.isLoopback), expiry: transaction.expiry, now: now)
    // Short handles may collide; two transactions must never share one.
    guard existing == nil else { throw .unavailable("the handle is in use") }
    return handle
  }

  /// Returns true if ``open(_:now:)`` may find a transaction. Does not query the store.
  func mayOpen(_ state: String) -> Bool {
    if isHandle(state) { return true }
    let opened: Opened<AuthorizationTransaction> = sealer.opened(state)
    guard case .value = opened else { return false }
    return true
  }

  private func isHandle(_ state: String) -> Bool {
    // `carry` never makes a longer handle.
    state.hasPrefix(TransactionStateCodec.prefix) && state.utf8.count <= 23
  }

  /// Opens a state.
  ///
  /// Throws if the state may be a handle and the store is unavailable, because its transaction is then unknown.
  func open(_ state: String, now: Int64) async throws(StoreError) -> Opened<AuthorizationTransaction> {
    if isHandle(state) {
      for key in keys(state) {
        guard let sealed = try await store.get(key, now: now) else { continue }
        return sealer.opened(String(stored: sealed), in: key.binding(store))
      }
      return .invalid
    }
    return sealer.opened(state)
  }

  /// Handles are short, so their store names depend on a key: otherwise a copy of the store could be searched for them.
  private func keys(_ handle: String) -> [StoreKey] {
    sealer.storeNames(of: Array(handle.utf8)).map { StoreKey(.state, hashing: $0) }
  }
}

extension StoreKey {
  /// Returns the binding of a sealed value to this entry of a store and to the store's epoch.
  ///
  /// - Parameters:
  ///   - data: More data that the value is bound to, of a fixed length for each kind.
  ///   - secret: A text that only the value's owner has.
  func binding(_ store: any EphemeralStore, data: [UInt8] = [], secret: Secret? = nil) -> SealBinding {
    let epoch = store.epoch.rawValue
    let place = [kind.rawValue] + bytes + (0..<8).map { UInt8(truncatingIfNeeded: epoch >> (8 * UInt64($0))) }
    return SealBinding(data: place + data, secret: secret)
  }
}

extension String {
  /// The bytes of a sealed value for the store, without base64url, which is a third longer.
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
      // Show a page: the redirect would carry the state.
      trail.refused(.parameterMalformed)
      return pages.error(
        ErrorPage(.parameterMalformed, detail: "`state` and `scope` are longer than this server's `state_limit` allows")
      )
    }
  }
}

extension Sealer {
  /// Opens a sealed value and maps the errors to the three outcomes that a decision distinguishes.
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
