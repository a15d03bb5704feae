internal import Cryptography
internal import Synchronization

/// Random bytes for the nonces of claims, shared by all workers. A call of the generator for each nonce would cost more
/// than storing the claim.
final class NoncePool: Sendable {
  private let pool = Mutex(RandomPool())

  /// Returns `count` bytes, each of which is handed out only once.
  func take(_ count: Int) -> [UInt8] { pool.withLock { $0.take(count) } }
}
