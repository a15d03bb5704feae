public import Reactor
import Synchronization

/// A proxy on all of its workers: what is started, reloaded and drained as one.
public final class Server: Sendable {
  public let group: WorkerGroup
  /// The bound addresses, with the ports that the kernel chose.
  public let addresses: [Address]
  private let updates = Mutex(Updates())

  /// Who works on the workers: a loop that has ended runs nothing more, so no caller may be left waiting for it.
  private struct Updates {
    var running = 0
    var isClosed = false
  }

  /// Binds `addresses` for each of `workers` workers, starts their threads and begins to accept.
  ///
  /// - Parameters:
  ///   - proxyProtocol: the positions of those addresses on which the PROXY protocol is spoken.
  ///   - descriptorReserve: descriptors that are left to others; accepting pauses when there are no more.
  ///   - build: makes each worker's proxy, on that worker.
  ///
  /// Throws `ServerError` when an address cannot be bound or the process is out of threads or descriptors; nothing is left
  /// open then.
  public init(
    workers count: Int, addresses: [Address], proxyProtocol: Set<Int> = [],
    descriptorReserve: Int = Worker.descriptorReserve, threadName: String,
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
    var started: [Worker] = []
    var accepting = 0
    do throws(IOError) {
      var workers: [Worker] = []
      for index in 0..<count { workers.append(try Worker(index: index)) }
      group = WorkerGroup(workers)
      for worker in workers {
        try worker.start(name: count == 1 ? threadName : "\(threadName)-\(worker.index)")
        started.append(worker)
      }
      for worker in workers {
        let listeners = bound.map { $0[worker.index] }
        let group = group
        // From here on they are closed where they are.
        accepting += 1
        try await worker.perform { (worker: isolated Worker) throws(IOError) in
          let proxy = build(worker)
          worker.keep(proxy)
          try Server.prepare(listeners, proxyProtocol, proxy, worker, group, descriptorReserve)
        }
      }
      // Not before each can take what another one hands over.
      for worker in workers { await worker.beginAccepting() }
    } catch {
      for socket in bound.flatMap({ $0[accepting...] }) { socket.close() }
      for worker in started {
        await worker.stopAccepting()
        await worker.stop()
      }
      throw ServerError(address: nil, error: error)
    }
  }

  /// Takes all of a worker's listeners over, or closes those that are left.
  private static func prepare(
    _ listeners: [ListeningSocket], _ proxyProtocol: Set<Int>, _ proxy: ProxyWorker, _ worker: isolated Worker,
    _ group: WorkerGroup, _ reserve: Int
  ) throws(IOError) {
    for (position, listener) in listeners.enumerated() {
      let speaksProxyProtocol = proxyProtocol.contains(listener.id)
      do throws(IOError) {
        try worker.prepareAccepting(listener, group: group, reserve: reserve) { isPaused in
          if isPaused { proxy.metrics.acceptingPaused() } else { proxy.metrics.acceptingResumed() }
        } accepted: { socket, peer in
          proxy.serve(socket, peer: peer, listener: listener.id, speaksProxyProtocol: speaksProxyProtocol)
        }
      } catch {
        // The one that failed was closed when it failed.
        for rest in listeners[(position + 1)...] { rest.close() }
        throw error
      }
    }
  }

  /// Runs `body` with each worker's proxy, on its worker, one after the other; not at all once the server has ended.
  public func update(_ body: @escaping @Sendable (ProxyWorker) -> Void) async {
    await perform { worker in
      if let proxy = worker.resident(ProxyWorker.self) { body(proxy) }
    }
  }

  /// Runs `body` on each worker, one after the other; not at all once the server has ended.
  public func perform(_ body: @escaping @Sendable (isolated Worker) -> Void) async {
    let begins = updates.withLock { updates in
      if !updates.isClosed { updates.running += 1 }
      return !updates.isClosed
    }
    guard begins else { return }
    for worker in group.workers { await worker.perform(body) }
    updates.withLock { $0.running -= 1 }
  }

  /// Ends the server: every response says that its connection closes, connections are accepted for `delay` milliseconds
  /// more, then what is in progress is finished, for at most `timeout` milliseconds.
  ///
  /// Returns how many connections had to be cut.
  public func drain(delay: Int, timeout: Int, clock: WaitClock) async -> Int {
    await update { $0.isWindingDown = true }
    await clock.pause(delay)
    for worker in group.workers { await worker.stopAccepting() }
    for worker in group.workers { await worker.drain() }
    await update { $0.pool.closeIdle() }
    let step = 20
    _ = await clock.wait(until: { connections == 0 }, atMost: timeout, step: step)
    let left = connections
    for worker in group.workers { await worker.abortConnections() }
    await clock.pause(step)
    await closeUpdates(clock)
    for worker in group.workers { await worker.stop() }
    return left
  }

  /// Rejects new updates and waits for running ones.
  private func closeUpdates(_ clock: WaitClock) async {
    updates.withLock { $0.isClosed = true }
    while updates.withLock({ $0.running > 0 }) { await clock.pause(1) }
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
