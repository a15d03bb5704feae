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
  /// Counts changes of how the upstream is spoken to: what was connected before one is not for requests that come behind it.
  private var epoch = 0
  /// Requests that wait for a place: those that pass, and those for which places are kept.
  private var queue: [Waiter] = []
  private var reservedQueue: [Waiter] = []
  private var lookUp: NameLookUp?
  /// For each connection so many requests may wait. A longer queue would not come to its end in time.
  private static let queueFactor = 8
  private static let shortestQueue = 64
  /// So many idle connections keep their buffer for the next response.
  private static let buffered = 64
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

  public var idleCount: Int { idle.count }
  public var openCount: Int { open }

  /// An idle connection, if there is one that is fit for the request: what must not be sent twice goes only on one that
  /// was used a moment ago.
  ///
  /// An event that something came on an idle connection may still be under way. So the kernel is asked before a request that
  /// must not be sent twice, or that is about codes and tokens, could meet the rest of an earlier answer. For a safe request
  /// that passes it is not: this would be a third read for each.
  func takeIdle(isIdempotent: Bool, isReserved: Bool) -> UpstreamConnection? {
    guard hasPlace(isReserved) else { return nil }
    while let connection = idle.popLast() {
      // The last in is the youngest: when it is too old, all are.
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

  /// True if a request may have a connection now: those that pass leave the reserved ones to others.
  private func hasPlace(_ isReserved: Bool) -> Bool {
    isReserved
      || open - idle.count < settings.configuration.upstreamConnections
        - settings.configuration.limits.reservedUpstreamConnections
  }

  /// A connection: an idle one when the request may use it, else a new one, waiting in the queue when all are in use.
  ///
  /// - Parameter isReserved: whether it may be one of those that requests that pass leave to others.
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
          // All connections stand, and one is idle but not fit for this request: replace it.
          discard(oldest)
          continue
        }
      }
      try await queue(client, isReserved, until: queueDeadline)
    }
    return try await connect(client)
  }

  /// Waits until a place may have come free.
  private func queue(
    _ client: ServerConnection, _ isReserved: Bool, until deadline: Deadline
  ) async throws(UpstreamFailure) {
    let waiter = client.waiter
    let limit = max(UpstreamPool.shortestQueue, settings.configuration.upstreamConnections * UpstreamPool.queueFactor)
    guard (isReserved ? reservedQueue : queue).count < limit else { throw .busy }
    if isReserved { reservedQueue.append(waiter) } else { queue.append(waiter) }
    let wake = await waiter.wait(client.socket, client.abandonment, until: deadline)
    // Woken in the same turn in which its time ran out or its client left: then the free place was given to it.
    let wasGiven = !leave(waiter, isReserved)
    if client.isAbandoned {
      if wasGiven { wakeNext() }
      throw .clientGone(afterSending: false)
    }
    if wake == .timedOut, !wasGiven { throw .busy }
  }

  /// Takes a waiter out of its queue; false when it is not there any more.
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

  /// Nothing is sent before the server has proven its identity. Another of its addresses is not tried: it has the same name.
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

  /// The upstream's addresses; looking them up is a part of connecting, and its time too.
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

  /// Takes back a connection whose last response was whole and allows another.
  func giveBack(_ connection: UpstreamConnection) {
    // Bytes beyond the response, or an end already seen: nothing that a next request may meet.
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

  /// From now on each request gets a connection that was made under the current settings.
  func renew() {
    epoch += 1
    closeIdle()
  }

  /// Closes all idle connections.
  public func closeIdle() {
    while let connection = idle.popLast() { retire(connection) }
  }
}
