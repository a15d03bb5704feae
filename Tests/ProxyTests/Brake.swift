import Glibc
import Proxy
import Synchronization
import Testing

/// Holds the proxy's worker before its next turn, so that all events until the release belong to one turn.
final class Brake: Sendable {
  private let isHeld = Atomic<Bool>(false)
  private let isReleased = Atomic<Bool>(false)
  private let hold = Mutex<Task<Void, Never>?>(nil)

  var holds: Bool { isHeld.load(ordering: .acquiring) }

  /// Blocks the calling thread for at most a minute.
  fileprivate func block() {
    isHeld.store(true, ordering: .releasing)
    for _ in 0..<120_000 where !isReleased.load(ordering: .acquiring) { usleep(500) }
  }

  fileprivate func keep(_ task: Task<Void, Never>) {
    hold.withLock { $0 = task }
  }

  /// Lets the worker continue.
  func release() async {
    isReleased.store(true, ordering: .releasing)
    await hold.withLock { $0 }?.value
  }
}

extension Bench {
  /// Stops the proxy's worker until the brake is released, and then runs `body` on it before it reads any event.
  func brake(then body: @escaping @Sendable (ProxyWorker) -> Void = { _ in }) async -> Brake {
    let (server, brake) = (server, Brake())
    brake.keep(
      Task {
        await server.update { proxy in
          brake.block()
          body(proxy)
        }
      })
    await eventually("the worker is stopped") { brake.holds }
    return brake
  }
}
