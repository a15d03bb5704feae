public import Reactor

/// A proxy on all of its workers: what is started, reloaded and drained as one.
public final class Server: Sendable {
  public let group: WorkerGroup
  /// What was bound, with the ports that the kernel chose.
  public let addresses: [Address]

  /// Binds `addresses` for each of `workers` workers, starts their threads and begins to accept.
  ///
  /// `build` makes each worker's proxy, on that worker.
  ///
  /// Throws `ServerError` when an address cannot be bound or the process is out of threads or descriptors.
  public init(
    workers count: Int, addresses: [Address], threadName: String,
    build: @escaping @Sendable (isolated Worker) -> ProxyWorker
  ) async throws(ServerError) {
    var bound: [[ListeningSocket]] = []
    for (id, address) in addresses.enumerated() {
      do throws(IOError) {
        bound.append(try ListeningSocket.bind(address, count: count, id: id))
      } catch {
        for socket in bound.joined() { socket.close() }
        throw ServerError(address: address, error: error)
      }
    }
    self.addresses = bound.compactMap { $0.first?.address }
    do throws(IOError) {
      var workers: [Worker] = []
      for index in 0..<count { workers.append(try Worker(index: index)) }
      group = WorkerGroup(workers)
      for worker in workers { try worker.start(name: count == 1 ? threadName : "\(threadName)-\(worker.index)") }
      for worker in workers {
        let listeners = bound.map { $0[worker.index] }
        let group = group
        try await worker.perform { (worker: isolated Worker) throws(IOError) in
          let proxy = build(worker)
          worker.keep(proxy)
          for listener in listeners {
            try worker.accept(listener, group: group) { socket, peer in
              proxy.serve(socket, peer: peer, listener: listener.id)
            }
          }
        }
      }
    } catch {
      throw ServerError(address: nil, error: error)
    }
  }

  /// Runs `body` with each worker's proxy, on its worker, one after the other.
  public func update(_ body: @escaping @Sendable (ProxyWorker) -> Void) async {
    for worker in group.workers {
      await worker.perform { (worker: isolated Worker) in
        if let proxy = worker.resident(ProxyWorker.self) { body(proxy) }
      }
    }
  }

  /// Ends the server: every response says that its connection closes, connections are accepted for `delay` milliseconds
  /// more, then what is in progress is finished, for at most `timeout` milliseconds.
  ///
  /// `pause` waits so many milliseconds. Returns how many connections had to be cut.
  public func drain(delay: Int, timeout: Int, pause: (Int) async -> Void) async -> Int {
    await update { $0.isWindingDown = true }
    await pause(delay)
    for worker in group.workers { await worker.stopAccepting() }
    for worker in group.workers { await worker.drain() }
    await update { $0.pool.closeIdle() }
    let step = 20
    var waited = 0
    var left = connections
    while left > 0, waited < timeout {
      await pause(step)
      waited += step
      left = connections
    }
    for worker in group.workers { await worker.abortConnections() }
    await pause(step)
    for worker in group.workers { await worker.stop() }
    return left
  }

  /// Client connections on all workers.
  public var connections: Int {
    group.workers.reduce(0) { $0 + $1.connections.count }
  }
}

/// Why a server did not start.
public struct ServerError: Error, Sendable, CustomStringConvertible {
  public let address: Address?
  public let error: IOError

  public var description: String {
    guard let address else { return "cannot start: \(error)" }
    let hint = error.code == 98 ? "; is another process listening there?" : ""
    return "cannot listen on \(address): \(error)\(hint)"
  }
}
