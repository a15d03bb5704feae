import DiskStore
import Policy
import Reactor
import RedisStore
import Stores
import Time

/// The store of the policy, with the steps that its engine needs at the start and at the end of the service.
struct ConfiguredStore {
  let store: any EphemeralStore
  /// Prepares the store for use on a worker, before the worker accepts clients; `nil` if the store needs no
  /// preparation.
  let start: (@Sendable (isolated Worker) -> Void)?
  /// The store, if it is in a file.
  private let file: FileStore?

  /// Creates the store, or opens its file. Throws if the file cannot be used.
  init(_ settings: GatewaySettings) throws(FileStoreError) {
    switch settings.store {
    case .memory(let size):
      store = MemoryStore(size: size)
      start = nil
      file = nil
    case .file(let path, let size):
      let opened = try FileStore(path: path, size: size)
      if opened.isNew { Console.inform("the store \(path) is new and begins an epoch") }
      if let notice = opened.newEpochNotice { Console.warn(notice) }
      store = opened
      start = nil
      file = opened
    case .redis(let settings):
      let shared = RedisStore(settings)
      store = shared
      start = { shared.start(on: $0) }
      file = nil
    }
  }

  /// Ends the store after the last request. The connections to a Redis server end with their workers.
  func close(_ clock: WaitClock) async {
    guard let file else { return }
    file.close()
    // Answered operations are durable already. Closing copies SQLite's write-ahead log into the file.
    _ = await clock.wait(until: { file.isClosed }, atMost: 5_000, step: 10)
  }
}
