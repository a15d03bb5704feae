import Reactor

/// A task of a test peer, made from a closure.
final class PeerTask: Activity {
  private let body: () async -> Void

  init(_ body: @escaping () async -> Void) {
    self.body = body
  }

  func run() async {
    await body()
  }
}
