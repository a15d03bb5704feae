import Cryptography
import Enforcement
import OAuth
import Reactor
import Sealing
import Stores

/// Carries a transaction through the upstream: sealed in the state itself, or behind a short handle where the upstream
/// does not take that much.
struct StateCarrier {
  /// Handles begin with what no sealed value can: base64url of a version byte is never `h`.
  private static let prefix = "h"
  private static let randomBytesOfHandle = 16
  /// Below this a handle could be guessed.
  private static let fewestRandomBytes = 10

  let sealer: Sealer
  let store: any EphemeralStore
  /// Bytes.
  let limit: Int
  /// By client and address: a request that proves nothing takes memory for a quarter of an hour.
  let budget: RateLimiter

  /// The state to send upstream.
  ///
  /// Throws `StoreError.full` also when so many states of this client are kept for this address that no more are.
  /// - Parameters:
  ///   - address: the browser's.
  ///   - now: seconds since 1970.
  func carry(
    _ transaction: AuthorizationTransaction, from address: String, now: Int64
  ) async throws(StoreError) -> String {
    let sealed = sealer.seal(transaction)
    guard sealed.utf8.count > limit else { return sealed }
    let milliseconds = Int64(Clock.monotonicNanoseconds() / 1_000_000)
    guard budget.take(RateKey(client: transaction.clientID, address: address), now: milliseconds) else { throw .full }
    // Four characters hold three bytes.
    let room = max(StateCarrier.fewestRandomBytes, (limit - StateCarrier.prefix.utf8.count) * 3 / 4)
    let secret = randomBytes(min(StateCarrier.randomBytesOfHandle, room))
    let handle = StateCarrier.prefix + Base64URL.encode(secret)
    _ = try await store.put(key(handle), Array(sealed.utf8), expiry: transaction.expiry, now: now)
    return handle
  }

  /// What a state opens to.
  ///
  /// Throws when it may be a handle and the store is away: nobody knows then what it stands for.
  func open(_ state: String, now: Int64) async throws(StoreError) -> Opened<AuthorizationTransaction> {
    if state.hasPrefix(StateCarrier.prefix), state.utf8.count <= 23 {
      guard let sealed = try await store.get(key(state), now: now) else { return .invalid }
      return sealer.opened(String(decoding: sealed, as: UTF8.self))
    }
    return sealer.opened(state)
  }

  private func key(_ handle: String) -> StoreKey { StoreKey(.state, hashing: Array(handle.utf8)) }
}

extension Sealer {
  /// Opens for a decision, which tells only three outcomes apart.
  func opened<Value: Sealable & Sendable>(_ text: String) -> Opened<Value> {
    do throws(OpenError) {
      return .value(try open(Value.self, from: text))
    } catch {
      switch error {
      case .unknownKey: return .keyUnknown
      case .malformed, .retiredKey, .notAuthentic: return .invalid
      }
    }
  }
}
