/// A buffer of random bytes for small requests: one call of the generator takes 6,600 instructions for 16 bytes, and
/// 9,000 for 2,048.
///
/// The pool overwrites bytes that it has handed out. An attacker who reads this memory learns the unused bytes, which
/// will be handed out later. The state of the generator is in the memory of the process too, and reveals all later
/// bytes. So the pool adds no risk, and its bytes may be used as secrets.
///
/// Not sendable: each worker owns one pool.
public final class RandomPool {
  private static let size = 2_048
  private static let longest = 512

  private var pool: [UInt8] = []
  private var next = 0

  /// Creates an empty pool; the first `take` fills it.
  public init() {}

  deinit {
    wipe(&pool)
  }

  /// Returns `count` random bytes, at most 512. Each byte of the pool is returned only once.
  public func take(_ count: Int) -> [UInt8] {
    precondition(count <= Self.longest, "at most 512 bytes at a time")
    if next + count > pool.count {
      wipe(&pool)
      pool = randomBytes(Self.size)
      next = 0
    }
    let portion = Array(pool[next..<next + count])
    for index in next..<next + count { pool[index] = 0 }
    next += count
    return portion
  }
}
