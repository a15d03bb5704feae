import Reactor
import TLS

/// The upstream connections of one worker: idle ones last in first out, and a queue when all are in use.
public final class UpstreamPool {
  let poller: Poller
  private let resolver: Resolver
  private let handshakes: HandshakeGate
  private let metrics: any ProxyMetrics
  var settings: ProxySettings
  private var idle: [UpstreamConnection] = []
  private var open = 0
  /// Incremented when the upstream TLS changes; older connections are not reused for new requests.
  private var epoch = 0
  /// Passing requests that wait for a connection, and intercepted ones, for which connections are reserved.
  private var queue: [Waiter] = []
  private var reservedQueue: [Waiter] = []
  private var lookUp: NameLookUp?
  /// The maximum number of waiting requests per connection. A longer queue would not be served in time.
  private static let queueFactor = 8
  /// The minimum of the queue limit.
  private static let shortestQueue = 64
  /// The number of idle connections that keep their buffer for the next response.
  private static let buffered = 64
  /// The number of connections opened since the start.
  public private(set) var opened: UInt64 = 0

  init(
    _ poller: Poller, resolver: Resolver, settings: ProxySettings, handshakes: HandshakeGate,
    metrics: any ProxyMetrics
  ) {
    self.poller = poller
    self.handshakes = handshakes
    self.metrics = metrics
    self.resolver = resolver
    self.settings = settings
  }

  /// The number of idle connections.
  public var idleCount: Int { idle.count }
  /// The number of connections, idle or in use, including those being established.
  public var openCount: Int { open }

  /// Returns an idle connection that suits the request, if there is one. A request that must not be sent twice gets
  /// only a connection that was used a moment ago (`freshReuse`).
  ///
  /// An event for input on an idle connection may still be pending. So the kernel is asked first for a request that
  /// must not be sent twice, and for one with codes or tokens: it must not receive the rest of an earlier response.
  /// Not for a safe passing request, for which this would be a third read.
  func takeIdle(isIdempotent: Bool, isReserved: Bool) -> UpstreamConnection? {
    guard hasPlace(isReserved) else { return nil }
    while let connection = idle.popLast() {
      // The last one is the most recently used: if it is too old, all are.
      if !isIdempotent, poller.now - connection.idleSince > UInt64(settings.configuration.freshReuse) {
        idle.append(connection)
        return nil
      }
      if isReserved || !isIdempotent, connection.socket.hasArrived() {
        retire(connection)
        continue
      }
      connection.unpark()
      return connection
    }
    return nil
  }

  /// True if the request may use a connection now: passing requests may not use the reserved ones.
  private func hasPlace(_ isReserved: Bool) -> Bool {
    isReserved
      || open - idle.count < settings.configuration.upstreamConnections
        - settings.configuration.limits.reservedUpstreamConnections
  }

  /// Returns an idle connection if the request may use it, otherwise a new one; waits in the queue if all are in use.
  ///
  /// - Parameter isReserved: true if the request may use the reserved connections.
  func take(
    mayReuse: Bool, isIdempotent: Bool, isReserved: Bool = false, for client: ServerConnection
  ) async throws(UpstreamFailure) -> UpstreamConnection {
    let queueDeadline = poller.deadline(after: settings.configuration.queueTimeout)
    while true {
      if hasPlace(isReserved) {
        if mayReuse, let connection = takeIdle(isIdempotent: isIdempotent, isReserved: isReserved) {
          return connection
        }
        if open < settings.configuration.upstreamConnections { break }
        if let oldest = idle.first {
          // All connections are established, and one is idle but does not suit this request: replace it.
          discard(oldest)
          continue
        }
      }
      try await queue(client, isReserved, until: queueDeadline)
    }
    return try await connect(client)
  }

  /// Waits until a connection may be available.
  private func queue(
    _ client: ServerConnection, _ isReserved: Bool, until deadline: Deadline
  ) async throws(UpstreamFailure) {
    let waiter = client.waiter
    let limit = max(UpstreamPool.shortestQueue, settings.configuration.upstreamConnections * UpstreamPool.queueFactor)
    guard (isReserved ? reservedQueue : queue).count < limit else { throw .busy }
    if isReserved { reservedQueue.append(waiter) } else { queue.append(waiter) }
    let wake = await waiter.wait(client.socket, client.abandonment, until: deadline)
    // Wake-up and timeout may occur in the same turn: the place is then already this waiter's.
    let wasGiven = !leave(waiter, isReserved)
    if client.isAbandoned {
      if wasGiven { wakeNext() }
      throw .clientGone(afterSending: false)
    }
    if wake == .timedOut, !wasGiven { throw .busy }
  }

  /// Removes a waiter from its queue. Returns false if it has already been removed.
  private func leave(_ waiter: Waiter, _ isReserved: Bool) -> Bool {
    guard let index = (isReserved ? reservedQueue : queue).firstIndex(where: { $0 === waiter }) else { return false }
    if isReserved { reservedQueue.remove(at: index) } else { queue.remove(at: index) }
    return true
  }

  private func connect(_ client: ServerConnection) async throws(UpstreamFailure) -> UpstreamConnection {
    open += 1
    let epoch = epoch
    do throws(UpstreamFailure) {
      let deadline = poller.deadline(after: settings.configuration.connectTimeout)
      let socket = try await socket(for: client, until: deadline)
      try await secure(socket, for: client, until: deadline)
      opened += 1
      metrics.upstreamConnectionOpened()
      return UpstreamConnection(socket, self, epoch: epoch)
    } catch {
      released()
      throw error
    }
  }

  private func socket(for client: ServerConnection, until deadline: Deadline) async throws(UpstreamFailure) -> Socket {
    for address in try await addresses(for: client, until: deadline) {
      do throws(ConnectError) {
        return try await poller.connect(
          to: address, with: client.waiter, until: deadline, abandonedBy: client.socket)
      } catch {
        switch error {
        case .timedOut: throw .connectTimeout
        case .abandoned: throw .clientGone(afterSending: false)
        case .failed: continue
        }
      }
    }
    throw .unreachable
  }

  /// Performs the TLS handshake: nothing is sent before the server has proven its identity. Its other addresses are
  /// not tried, because they have the same name.
  private func secure(
    _ socket: Socket, for client: ServerConnection, until deadline: Deadline
  ) async throws(UpstreamFailure) {
    guard let tls = settings.configuration.upstreamTLS else { return }
    do throws(TLSFailure) {
      try await tls.connect(
        socket, with: client.waiter, gate: handshakes, until: deadline, abandonedBy: client.socket)
    } catch {
      socket.close()
      switch error {
      case .abandoned: throw .clientGone(afterSending: false)
      case .timedOut: throw .connectTimeout
      default:
        metrics.upstreamHandshakeFailed(error)
        throw .insecure
      }
    }
  }

  /// Returns the upstream's addresses. The look-up is part of connecting and counts against its deadline.
  private func addresses(
    for client: ServerConnection, until deadline: Deadline
  ) async throws(UpstreamFailure) -> [Address] {
    if let known = resolver.known(now: poller.now) { return known }
    let current: NameLookUp
    if let lookUp, lookUp.outcome == nil {
      current = lookUp
    } else {
      current = NameLookUp(resolver, poller)
      lookUp = current
      poller.start(current)
    }
    current.add(client.waiter)
    let wake = await client.waiter.wait(client.socket, client.abandonment, until: deadline)
    current.remove(client.waiter)
    if client.isAbandoned { throw .clientGone(afterSending: false) }
    switch current.outcome {
    case .success(let addresses)?: return addresses
    case .failure?: throw .unreachable
    case nil: throw wake == .timedOut ? .connectTimeout : .unreachable
    }
  }

  /// Accepts a connection whose last response was complete and allows another.
  func giveBack(_ connection: UpstreamConnection) {
    // Retire a connection that has bytes after the response or that the upstream has closed: the next request must not
    // use it.
    guard connection.input.isEmpty, connection.epoch == epoch, !connection.socket.hasInput(), !poller.isDraining else {
      return retire(connection)
    }
    if idle.count >= UpstreamPool.buffered || connection.isBulk { connection.releaseInput() }
    connection.park(now: poller.now, timeout: settings.configuration.upstreamIdleTimeout)
    idle.append(connection)
    wakeNext()
  }

  /// Closes a connection that was in use.
  func retire(_ connection: UpstreamConnection) {
    connection.close()
    metrics.upstreamConnectionClosed()
    released()
  }

  /// Closes an idle connection.
  func discard(_ connection: UpstreamConnection) {
    guard let index = idle.firstIndex(where: { $0 === connection }) else { return }
    idle.remove(at: index)
    retire(connection)
  }

  private func released() {
    open -= 1
    wakeNext()
  }

  private func wakeNext() {
    if !reservedQueue.isEmpty {
      reservedQueue.removeFirst().resume(.ready)
    } else if !queue.isEmpty, hasPlace(false) {
      queue.removeFirst().resume(.ready)
    }
  }

  /// From now on, only connections made with the current settings are used.
  func renew() {
    epoch += 1
    closeIdle()
  }

  /// Closes all idle connections.
  public func closeIdle() {
    while let connection = idle.popLast() { retire(connection) }
  }
}
