import Cryptography
import Enforcement
import OAuth
import Policy
import Reactor
import Sealing
import Stores

/// Keeps authorization requests between their push and their browser (RFC 9126, sections 2.2 and 4).
///
/// The name of an entry is a digest of the client and of the random reference, so that a reference finds nothing for
/// another client, and a copy of the store tells nobody one.
struct PushedRequests {
  /// Seconds. The app opens the browser at once; RFC 9126, section 2.2, asks for a short time.
  static let lifetime: Int64 = 90
  /// Bytes. Far more than any request in an address, where servers rarely take more than 8 KiB.
  static let longest = 16 * 1024
  /// RFC 9126, section 7.1, with RFC 6749, section 10.10: nobody guesses 256 bits.
  private static let randomBytesOfReference = 32

  let sealer: Sealer
  let store: any EphemeralStore
  /// By client and address: a client without a secret proves nothing and takes memory all the same.
  let budget: RateLimiter

  /// Keeps a request: the `request_uri` that stands for it.
  ///
  /// Throws `StoreError.full` also when so many requests of a public client are kept for this address that no more are.
  /// - Parameters:
  ///   - address: the client's.
  ///   - now: seconds since 1970.
  func push(_ permit: PushedPermit, from address: String, now: Int64) async throws(StoreError) -> String {
    if permit.client.kind == .public {
      let milliseconds = Int64(Clock.monotonicNanoseconds() / 1_000_000)
      guard budget.take(RateKey(client: permit.client.id, address: address), now: milliseconds) else { throw .full }
    }
    let random = Base64URL.encode(randomBytes(PushedRequests.randomBytesOfReference))
    let reference = PushedReference(clientID: permit.client.id, random: random)
    let sealed = sealer.seal(Array(permit.query.utf8), for: .pushed)
    _ = try await store.put(
      key(reference), Array(sealed.utf8), expiry: now + PushedRequests.lifetime, now: now)
    return reference.uri
  }

  /// The query of the request that a reference stands for; `nil` if it stands for none, of this client.
  func find(_ reference: PushedReference, now: Int64) async throws(StoreError) -> String? {
    guard let sealed = try await store.get(key(reference), now: now),
      let bytes = try? sealer.open(String(decoding: sealed, as: UTF8.self), as: .pushed)
    else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Uses a reference up: whether it was there. Of several browsers that come with it one gets on.
  func take(_ reference: PushedReference, now: Int64) async throws(StoreError) -> Bool {
    try await store.take(key(reference), now: now) != nil
  }

  private func key(_ reference: PushedReference) -> StoreKey {
    // A digest has a fixed length, so no client id can run into the reference.
    StoreKey(.pushed, hashing: sha256(Array(reference.clientID.rawValue.utf8)) + Array(reference.uri.utf8))
  }
}
