public import Reactor
import Synchronization
public import Time

/// A proxy on all of its workers. They are started, reloaded and drained together.
public final class ProxyServer: Sendable {
  /// The workers.
  public let group: WorkerGroup
  /// The bound addresses, with the ports that the kernel chose.
  public let addresses: [Address]
  /// The addresses of the listeners as text, such as `127.0.0.1:8080` or `unix:/run/proofgate.sock`.
  public let names: [String]
  /// The sockets of the listeners, in their order.
  public let listeners: [BoundListener]
  private let unixListeners: [(name: String, listener: UnixListener)]
  private let updates = Mutex(Updates())

  /// The updates (calls of `perform`) in progress. `drain` waits for them before it stops the loops: a loop that has
  /// ended runs no more jobs, so an update that waits for a job of this loop would never return.
  private struct Updates {
    var running = 0
    var isClosed = false
  }

  /// Binds `addresses` for each of `count` workers, starts their threads and begins to accept. The parameters and errors
  /// are those of the initializer with listeners.
  public convenience init(
    workers count: Int, addresses: [Address], proxyProtocol: Set<Int> = [],
    inherited: InheritedListeners = InheritedListeners(), descriptorReserve: Int = Worker.descriptorReserve,
    threadName: String,
    build: @escaping @Sendable (isolated Worker) -> ProxyWorker
  ) async throws(ServerError) {
    try await self.init(
      workers: count, listeners: addresses.map { .address($0) }, proxyProtocol: proxyProtocol,
      inherited: inherited, descriptorReserve: descriptorReserve, threadName: threadName, build: build)
  }

  /// Binds `listeners` for each of `count` workers, starts their threads and begins to accept.
  ///
  /// - Parameters:
  ///   - proxyProtocol: the indices of the listeners that use the PROXY protocol.
  ///   - inherited: the sockets from the service manager. A listener whose place one of them has does not bind another.
  ///   - descriptorReserve: the number of descriptors left to other uses; accepting pauses when no more are free.
  ///   - build: creates the proxy of each worker, on that worker.
  ///
  /// Throws `ServerError` if a listener cannot be bound or the process is out of threads or descriptors; nothing is
  /// left open then.
  public init(
    workers count: Int, listeners: [ListenerLocation], proxyProtocol: Set<Int> = [],
    inherited: InheritedListeners = InheritedListeners(), descriptorReserve: Int = Worker.descriptorReserve,
    threadName: String,
    build: @escaping @Sendable (isolated Worker) -> ProxyWorker
  ) async throws(ServerError) {
    var bound: [[ListeningSocket]] = []
    var activated: Set<Int> = []
    let unixListeners = listeners.compactMap { place in place.unixListener.map { (place.name, $0) } }
    for (id, listener) in listeners.enumerated() {
      do throws(IOError) {
        let (sockets, isActivated) = try listener.open(count: count, id: id, inherited: inherited)
        bound.append(sockets)
        if isActivated { activated.insert(id) }
      } catch {
        for socket in bound.joined() { socket.close() }
        for listener in listeners[..<id] { listener.unixListener?.removeFile() }
        throw ServerError(listener: listener.name, error: error)
      }
    }
    self.unixListeners = unixListeners
    addresses = bound.compactMap { $0.first?.address }
    let names = zip(listeners, addresses).map { $0.unixListener == nil ? $1.description : $0.name }
    self.names = names
    self.listeners = bound.indices.map {
      BoundListener(
        name: names[$0], sockets: bound[$0].filter { !$0.isDuplicate }, isActivated: activated.contains($0))
    }
    var started: [Worker] = []
    var workersWithListeners = 0
    do throws(IOError) {
      var workers: [Worker] = []
      for index in 0..<count { workers.append(try Worker(index: index)) }
      group = WorkerGroup(workers)
      for worker in workers {
        try worker.start(name: count == 1 ? threadName : "\(threadName)-\(worker.index)")
        started.append(worker)
      }
      for worker in workers {
        let listeners = bound.flatMap { sockets in
          stride(from: worker.index, to: sockets.count, by: count).map { sockets[$0] }
        }
        let group = group
        // From here on, `prepare` or the worker closes the listeners of this worker.
        workersWithListeners += 1
        try await worker.perform { (worker: isolated Worker) throws(IOError) in
          let proxy = build(worker)
          worker.keep(proxy)
          try ProxyServer.prepare(listeners, proxyProtocol, proxy, worker, group, descriptorReserve)
        }
      }
      // Accept only once every worker can adopt connections that another worker has accepted for it.
      for worker in workers { await worker.beginAccepting() }
    } catch {
      for sockets in bound {
        for (index, socket) in sockets.enumerated() where index % count >= workersWithListeners { socket.close() }
      }
      for worker in started {
        await worker.stopAccepting()
        await worker.stop()
      }
      for (_, listener) in unixListeners { listener.removeFile() }
      throw ServerError(listener: nil, error: error)
    }
  }

  /// Passes all listeners of a worker to the worker. After an error, closes the listeners that were not passed yet.
  private static func prepare(
    _ listeners: [ListeningSocket], _ proxyProtocol: Set<Int>, _ proxy: ProxyWorker, _ worker: isolated Worker,
    _ group: WorkerGroup, _ reserve: Int
  ) throws(IOError) {
    for (position, listener) in listeners.enumerated() {
      let speaksProxyProtocol = proxyProtocol.contains(listener.id)
      do throws(IOError) {
        try worker.prepareAccepting(listener, group: group, reserve: reserve) { isPaused in
          if isPaused { proxy.metrics.acceptingPaused() } else { proxy.metrics.acceptingResumed() }
        } onAccept: { socket, peer in
          proxy.serve(socket, peer: peer, listener: listener.id, speaksProxyProtocol: speaksProxyProtocol)
        }
      } catch {
        // The failed listener is already closed.
        for rest in listeners[(position + 1)...] { rest.close() }
        throw error
      }
    }
  }

  /// Runs `body` with the proxy of each worker, on that worker, one after the other. Does nothing once the server has
  /// ended.
  public func update(_ body: @escaping @Sendable (ProxyWorker) -> Void) async {
    await perform { worker in
      if let proxy = worker.resident(ProxyWorker.self) { body(proxy) }
    }
  }

  /// Runs `body` on each worker, one after the other. Does nothing once the server has ended.
  public func perform(_ body: @escaping @Sendable (isolated Worker) -> Void) async {
    let mayBegin = updates.withLock { updates in
      if !updates.isClosed { updates.running += 1 }
      return !updates.isClosed
    }
    guard mayBegin else { return }
    for worker in group.workers { await worker.perform(body) }
    updates.withLock { $0.running -= 1 }
  }

  /// Ends the server. For the time `delay`, connections are still accepted, but responses announce that their
  /// connection closes. Then requests in progress may take at most `timeout` to finish.
  ///
  /// - Parameter left: the names of the listeners whose sockets the service manager keeps for the next process. Their
  ///   connections that are not accepted yet stay in the queue. Those of other listeners are accepted.
  ///
  /// Returns the number of connections that had to be cut.
  public func drain(
    delay: Milliseconds, timeout: Milliseconds, leaving left: Set<String> = [], clock: WaitClock
  ) async -> Int {
    await update { $0.drainsSoon = true }
    await clock.pause(delay)
    let leftNumbers = Set(names.indices.filter { left.contains(names[$0]) })
    for worker in group.workers { await worker.stopAccepting(leaving: leftNumbers) }
    for (name, listener) in unixListeners where !left.contains(name) { listener.removeFile() }
    for worker in group.workers { await worker.drain() }
    await update { proxy in
      proxy.endHealthChecks()
      proxy.pool.closeIdle()
    }
    let step: Milliseconds = 20
    _ = await clock.wait(until: { connections == 0 }, atMost: timeout, step: step)
    let left = connections
    for worker in group.workers { await worker.abortConnections() }
    // Let the tasks of the aborted connections end.
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

  /// The number of client connections of all workers.
  public var connections: Int {
    group.workers.reduce(0) { $0 + $1.connections.count }
  }
}

/// The reason why a server did not start.
public struct ServerError: Error, Sendable, CustomStringConvertible {
  /// The address that could not be bound, as in `ProxyServer.names`; `nil` for another error.
  public let listener: String?
  /// The problem in words.
  public let problem: String

  /// Creates an error from a failed system call.
  init(listener: String?, error: IOError) {
    self.listener = listener
    let isAtUnixSocket = listener?.hasPrefix("unix:") ?? false
    problem =
      switch (error, isAtUnixSocket) {
      case (.addressInUse, _): "\(error); is another process listening there?"
      case (.exists, _): "the file is not a socket; remove it, or use another path"
      case (.wrongSocketType, true): "another program has a socket of another kind there; use another path"
      case (.noEntry, true): "its directory does not exist; create it"
      case (.notDirectory, true): "a part of the path is a file and not a directory; use another path"
      case (.accessDenied, true): "\(error); let this user write in the directory, and remove a socket of another user"
      case (.notPermitted, true): "\(error); remove a socket of another user, and `owner`, which only root may set"
      case (.notSupported, true): "the mode of the file cannot be set; mount /proc, or use Linux 6.6"
      case (.accessDenied, false): "\(error); use a port above 1023, or give the process CAP_NET_BIND_SERVICE"
      case (.addressNotAvailable, false): "\(error); use an address of this machine, or `0.0.0.0` or `[::]` for all"
      default: error.description
      }
  }

  /// Creates an error with a problem in words.
  public init(listener: String?, problem: String) {
    self.listener = listener
    self.problem = problem
  }

  /// One line for the operator.
  public var description: String {
    listener.map { "cannot listen on \($0): \(problem)" } ?? "cannot start: \(problem)"
  }
}
