/// Lets a bounded number of fixtures run at once: each has threads and a dozen descriptors, test cases come by the hundred,
/// and gateways accept nothing while the process is short of descriptors.
actor Turnstile {
  private var free: Int
  private var waiting: [CheckedContinuation<Void, Never>] = []

  static let fixtures = Turnstile(8)

  init(_ places: Int) {
    free = places
  }

  func enter() async {
    if free > 0 {
      free -= 1
    } else {
      await withCheckedContinuation { waiting.append($0) }
    }
  }

  func leave() {
    if waiting.isEmpty {
      free += 1
    } else {
      waiting.removeFirst().resume()
    }
  }
}
