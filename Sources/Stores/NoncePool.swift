internal import Cryptography
internal import Synchronization

/// Random bytes for the nonces of claims, shared by all workers. They are generated in advance, because a call of the
/// random number generator for each nonce would cost more than storing the claim.
final class NoncePool: Sendable {
  private let pool = Mutex(RandomPool())

  /// Returns `count` bytes that no other call returns.
  func take(_ count: Int) -> [UInt8] { pool.withLock { $0.take(count) } }
}
