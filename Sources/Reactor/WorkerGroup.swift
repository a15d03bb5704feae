/// The workers of a server, among which connections are distributed.
public struct WorkerGroup: Sendable {
  /// All workers of the server.
  public let workers: [Worker]

  /// Creates a group of these workers.
  public init(_ workers: [Worker]) {
    self.workers = workers
  }

  /// Returns the worker that should serve a connection that `own` accepted. This is the worker with the fewest
  /// connections if `own` has clearly more: at least two more, and over an eighth more. Otherwise it is `own`.
  ///
  /// The kernel distributes connections by a hash of the addresses, so a few connections may all arrive at one worker.
  func target(from own: Worker) -> Worker {
    guard workers.count > 1 else { return own }
    var leastLoaded = own
    var fewest = own.connections.count
    let ownCount = fewest
    for worker in workers where worker.connections.count < fewest {
      leastLoaded = worker
      fewest = worker.connections.count
    }
    return ownCount > fewest + max(1, fewest / 8) ? leastLoaded : own
  }
}
