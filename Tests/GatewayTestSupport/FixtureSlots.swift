/// Limits the number of fixtures at a time: all tests start together, and each fixture has threads and descriptors.
actor FixtureSlots {
  /// Enough to keep a few processors busy.
  static let shared = FixtureSlots(8)

  private var free: Int
  private var waiting: [CheckedContinuation<Void, Never>] = []

  init(_ count: Int) {
    free = count
  }

  func take() async {
    guard free == 0 else {
      free -= 1
      return
    }
    await withCheckedContinuation { waiting.append($0) }
  }

  func giveBack() {
    guard !waiting.isEmpty else {
      free += 1
      return
    }
    waiting.removeFirst().resume()
  }
}
