/// The workers of a server, among which connections are shared out.
public struct WorkerGroup: Sendable {
  public let workers: [Worker]

  public init(_ workers: [Worker]) {
    self.workers = workers
  }

  /// The worker that should get a connection that `own` accepted: another one when it has clearly fewer.
  ///
  /// The kernel spreads by hash of the addresses; with few connections all may land on one worker.
  func target(from own: Worker) -> Worker {
    guard workers.count > 1 else { return own }
    var least = own
    var fewest = own.connections.count
    let mine = fewest
    for worker in workers where worker.connections.count < fewest {
      least = worker
      fewest = worker.connections.count
    }
    return mine > fewest + max(1, fewest / 8) ? least : own
  }
}
