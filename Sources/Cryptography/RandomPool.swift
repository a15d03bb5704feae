/// Random bytes in small portions: one call of the generator costs 850 ns whether it gives 16 bytes or 512.
///
/// What was given is overwritten here. What waits to be given tells who reads this process's memory no more than the
/// generator's own state does, from which it could be computed as well: so secrets may come from here, too.
///
/// Not sendable: each worker owns its own.
public final class RandomPool {
  private static let size = 512

  private var pool: [UInt8] = []
  private var next = 0

  public init() {}

  deinit {
    wipe(&pool)
  }

  /// `count` bytes, at most 512, that were never given before.
  public func take(_ count: Int) -> [UInt8] {
    precondition(count <= Self.size, "more than the pool holds")
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
