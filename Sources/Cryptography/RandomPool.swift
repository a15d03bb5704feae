/// A buffer of random bytes, from which small amounts are taken. It saves time, because a call of OpenSSL's random
/// generator takes 6,600 instructions for 16 bytes, and only 9,000 for 2,048 bytes.
///
/// `take` overwrites the bytes that it returns with zeros in the pool. An attacker who can read the memory of the
/// process learns the bytes that will be returned later. But such an attacker can also read the state of the generator,
/// which determines all later bytes. So the pool adds no risk, and its bytes may be used as secrets.
///
/// Not sendable: a pool belongs to one worker, or is guarded by a lock.
public final class RandomPool {
  private static let poolSize = 2_048
  private static let maximumCount = 512

  private var pool: [UInt8] = []
  private var position = 0

  /// Creates an empty pool; the first `take` fills it.
  public init() {}

  deinit {
    wipe(&pool)
  }

  /// Returns `count` random bytes, at most 512. Each byte of the pool is returned only once.
  public func take(_ count: Int) -> [UInt8] {
    precondition(count <= Self.maximumCount, "at most 512 bytes at a time")
    if position + count > pool.count {
      wipe(&pool)
      pool = randomBytes(Self.poolSize)
      position = 0
    }
    let taken = Array(pool[position..<position + count])
    for index in position..<position + count { pool[index] = 0 }
    position += count
    return taken
  }
}
