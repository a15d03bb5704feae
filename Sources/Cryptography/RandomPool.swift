/// Random bytes in small portions: one call of the generator costs 850 ns whether it gives 16 bytes or 256.
///
/// For values that will be public, such as salts; bytes that stay secret come from `randomBytes`, which keeps none back.
/// Not sendable: each worker owns its own.
public final class RandomPool {
  private static let size = 512

  private var pool: [UInt8] = []
  private var next = 0

  public init() {}

  /// `count` bytes, at most 512, that were never given before.
  public func take(_ count: Int) -> ArraySlice<UInt8> {
    precondition(count <= Self.size, "more than the pool holds")
    if next + count > pool.count {
      pool = randomBytes(Self.size)
      next = 0
    }
    defer { next += count }
    return pool[next..<next + count]
  }
}
