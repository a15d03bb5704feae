/// Sizes of the pieces in which bytes arrive, determined by a seed.
struct Splits {
  private var state: UInt32

  init(seed: UInt8) {
    state = UInt32(seed) &* 2_654_435_761 | 1
  }

  /// Returns a size from 1 to `limit`.
  mutating func next(limit: Int) -> Int {
    state = state &* 1_664_525 &+ 1_013_904_223
    return 1 + Int(state >> 16) % max(1, limit)
  }
}
