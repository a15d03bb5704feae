import Reactor
import TLS
import Time

/// The upstream connections of one worker: a stack of idle connections, and queues of the requests that wait because
/// all connections are in use.
public final class UpstreamPool {
  let poller: Poller
  private let location: ServerLocation
  private let handshakes: HandshakeGate
  private let metrics: any ProxyMetrics
  var settings: CompiledProxyConfiguration {
    didSet { passingLimits = PassingLimits(settings) }
  }
  /// Computed once for the settings, because each passing request compares with these numbers.
  private var passingLimits: PassingLimits
  private var idle: [UpstreamConnection] = []
  /// The established connections, idle or in use, in no particular order.
  private var established: [ObjectIdentifier: UpstreamConnection] = [:]
  /// The client addresses of the passing requests for which a connection is being established.
  private var connecting: [UInt64] = []
  /// The number of connections, idle or in use, including those being established.
  private var open = 0
  /// A number that is incremented when the upstream TLS settings change. Connections of an earlier epoch are not reused
  /// for new requests.
  private var epoch = 0
  /// The passing requests that wait for a connection.
  private var queue: [Waiter] = []
  /// The intercepted requests that wait for a connection; some connections are reserved for them.
  private var reservedQueue: [Waiter] = []
  /// The current or latest look-up of the upstream's name.
  private var lookUp: NameLookUp?
  /// The maximum length of a queue, as a multiple of the maximum number of connections. The last requests of a longer
  /// queue would not be served in time.
  private static let queueFactor = 8
  /// The lowest limit on the length of a queue, for configurations with few connections.
  private static let minimumQueueLimit = 64
  /// The maximum number of idle connections that keep their buffer for the next response.
  private static let bufferedIdleLimit = 64
  /// The time between two attempts to connect to a Unix socket whose queue is full.
  private static let queuePause: Milliseconds = 5
  /// The number of connections opened since the start.
  public private(set) var opened: UInt64 = 0

  init(
    _ poller: Poller, location: ServerLocation, settings: CompiledProxyConfiguration, handshakes: HandshakeGate,
    metrics: any ProxyMetrics
  ) {
    self.poller = poller
    self.handshakes = handshakes
    self.metrics = metrics
    self.location = location
    self.settings = settings
    passingLimits = PassingLimits(settings)
  }

  private struct PassingLimits {
    /// The number of connections that passing requests may use.
    let connections: Int
    /// While at least this many connections are in use, few are free for passing requests: at most an eighth of
    /// `connections`, or at most one connection if an eighth is less.
    let fewAreFreeFrom: Int

    init(_ settings: CompiledProxyConfiguration) {
      connections =
        settings.configuration.upstreamConnections - settings.configuration.limits.reservedUpstreamConnections
      fewAreFreeFrom = connections - max(1, connections / 8)
    }
  }

  /// The number of idle connections.
  public var idleCount: Int { idle.count }
  /// The number of connections, idle or in use, including those being established.
  public var openCount: Int { open }

  /// Returns an idle connection that the request may use; `nil` without one. A request that must not be sent twice gets
  /// only a connection that was last used within `maximumIdleTimeIfNotRepeatable`.
  ///
  /// The kernel may hold input on an idle connection that no event has reported yet: its end, or the rest of an earlier
  /// response. So the pool asks the kernel before it returns a connection for a request that must not be sent twice, or
  /// for an intercepted request, whose response contains codes or tokens. For other requests the pool saves the system
  /// call.
  ///
  /// - Parameters:
  ///   - mayRepeat: false if the request must not be sent twice.
  ///   - mayUseReserved: true if the request is an intercepted one, which may use the reserved connections.
  func takeIdle(mayRepeat: Bool, mayUseReserved: Bool) -> UpstreamConnection? {
    guard mayUseConnection(mayUseReserved: mayUseReserved) else { return nil }
    while let connection = idle.popLast() {
      // The last connection was used most recently. If it has been idle for too long, so have all others.
      if !mayRepeat, poller.now - connection.idleSince > settings.configuration.maximumIdleTimeIfNotRepeatable {
        idle.append(connection)
        return nil
      }
      if mayUseReserved || !mayRepeat, connection.socket.inputHasArrived() {
        retire(connection)
        continue
      }
      connection.unpark()
      return connection
    }
    return nil
  }

  /// True if the request may use a connection now. Passing requests may not use the reserved connections.
  private func mayUseConnection(mayUseReserved: Bool) -> Bool {
    mayUseReserved || open - idle.count < passingLimits.connections
  }

  // MARK: The share of an address

  /// True if few connections are free and the passing requests of the client's address already hold too many of the
  /// others. Without this limit, one client that does not read its responses could keep all connections.
  ///
  /// While enough connections are free, no address is limited, so that many users behind one address are not refused.
  func holdsTooMany(_ client: ServerConnection) -> Bool {
    guard open - idle.count >= passingLimits.fewAreFreeFrom, let address = client.limitedAddress else { return false }
    let limit =
      settings.configuration.limits.requestsPerAddress
      ?? max(ProxyLimits.minimumRequestsPerAddress, passingLimits.connections / 2)
    // Counted only while few connections are free. To keep a count for each address at all times would cost more,
    // because every request would have to update it.
    let held = established.values.reduce(0) { $1.holder == address ? $0 + 1 : $0 }
    return connecting.reduce(held) { $1 == address ? $0 + 1 : $0 } >= limit
  }

  /// Returns an idle connection if the request may use it, otherwise a new one. Waits in a queue if all are in use.
  ///
  /// - Parameters:
  ///   - mayUseIdle: false to open a new connection in any case.
  ///   - mayRepeat: false if the request must not be sent twice.
  ///   - mayUseReserved: true if the request may use the reserved connections.
  func take(
    mayUseIdle: Bool, mayRepeat: Bool, mayUseReserved: Bool = false, for client: ServerConnection
  ) async throws(UpstreamFailure) -> UpstreamConnection {
    let queueDeadline = poller.deadline(after: settings.configuration.queueTimeout)
    while true {
      if mayUseConnection(mayUseReserved: mayUseReserved) {
        if mayUseIdle, let connection = takeIdle(mayRepeat: mayRepeat, mayUseReserved: mayUseReserved) {
          return connection
        }
        if open < settings.configuration.upstreamConnections { break }
        if let oldest = idle.first {
          // The maximum number of connections is open. One is idle but does not suit this request: replace it.
          discard(oldest)
          continue
        }
      }
      try await waitInQueue(client, mayUseReserved, until: queueDeadline)
    }
    guard !mayUseReserved, let address = client.limitedAddress else { return try await connect(client) }
    connecting.append(address)
    defer { if let index = connecting.firstIndex(of: address) { connecting.remove(at: index) } }
    let connection = try await connect(client)
    connection.holder = address
    return connection
  }

  /// Waits in a queue until a connection may be available.
  private func waitInQueue(
    _ client: ServerConnection, _ mayUseReserved: Bool, until deadline: Deadline
  ) async throws(UpstreamFailure) {
    let waiter = client.waiter
    let limit = max(
      UpstreamPool.minimumQueueLimit, settings.configuration.upstreamConnections * UpstreamPool.queueFactor)
    guard (mayUseReserved ? reservedQueue : queue).count < limit else { throw .poolExhausted }
    if mayUseReserved { reservedQueue.append(waiter) } else { queue.append(waiter) }
    let wake = await waiter.wait(client.socket, client.abandonment, until: deadline)
    // Wake-up and timeout may occur in the same turn. Then the waiter is no longer in the queue, and the connection is
    // meant for it.
    let wasWoken = !removeFromQueue(waiter, mayUseReserved)
    if client.isAbandoned {
      if wasWoken { wakeNext() }
      throw .clientGone(afterSending: false)
    }
    if wake == .timedOut, !wasWoken { throw .poolExhausted }
  }

  /// Removes a waiter from its queue. Returns false if it has already been removed.
  private func removeFromQueue(_ waiter: Waiter, _ mayUseReserved: Bool) -> Bool {
    guard let index = (mayUseReserved ? reservedQueue : queue).firstIndex(where: { $0 === waiter }) else {
      return false
    }
    if mayUseReserved { reservedQueue.remove(at: index) } else { queue.remove(at: index) }
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
      let connection = UpstreamConnection(socket, self, epoch: epoch)
      established[ObjectIdentifier(connection)] = connection
      return connection
    } catch {
      recordClosed()
      throw error
    }
  }

  private func socket(for client: ServerConnection, until deadline: Deadline) async throws(UpstreamFailure) -> Socket {
    switch location {
    case .unixSocket(let path): return try await unixSocket(path, for: client, until: deadline)
    case .name(let resolver): return try await socket(resolver, for: client, until: deadline)
    }
  }

  /// Connects to a Unix socket. If the server's queue of connections is full, the kernel refuses the connection
  /// immediately instead of letting it wait, so this function waits and tries again until the deadline.
  private func unixSocket(
    _ path: String, for client: ServerConnection, until deadline: Deadline
  ) async throws(UpstreamFailure) -> Socket {
    while true {
      do throws(IOError) {
        return try poller.connect(toUnixSocket: path)
      } catch {
        guard error == .wouldBlock else { throw .unreachable }
      }
      let pause = poller.deadline(after: UpstreamPool.queuePause)
      _ = await client.waiter.wait(client.socket, client.abandonment, until: min(pause, deadline))
      if client.isAbandoned { throw .clientGone(afterSending: false) }
      if poller.now >= deadline { throw .connectTimeout }
    }
  }

  private func socket(
    _ resolver: Resolver, for client: ServerConnection, until deadline: Deadline
  ) async throws(UpstreamFailure) -> Socket {
    for address in try await addresses(resolver, for: client, until: deadline) {
      do throws(ConnectError) {
        return try await poller.connect(
          to: address, with: client.waiter, until: deadline, abandonedBy: client.socket)
      } catch {
        switch error {
        case .timedOut: throw .connectTimeout
        case .clientDisconnected: throw .clientGone(afterSending: false)
        case .failed: continue
        }
      }
    }
    throw .unreachable
  }

  /// Performs the TLS handshake: no request is sent before the server has proven its identity. If the handshake fails,
  /// the other addresses are not tried, because they belong to the same name.
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
      case .clientDisconnected: throw .clientGone(afterSending: false)
      case .timedOut: throw .connectTimeout
      default:
        metrics.upstreamHandshakeFailed(error)
        throw .insecure
      }
    }
  }

  /// Returns the upstream's addresses. The look-up counts against the deadline of the connect.
  private func addresses(
    _ resolver: Resolver, for client: ServerConnection, until deadline: Deadline
  ) async throws(UpstreamFailure) -> [Address] {
    if let known = resolver.cachedAddresses(now: poller.now) { return known }
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

  /// Returns a connection to the pool. Its last response must be complete and allow another request.
  func giveBack(_ connection: UpstreamConnection) {
    // Close a connection that has bytes after the response or that the upstream has closed: the next request must not
    // use it.
    guard connection.input.isEmpty, connection.epoch == epoch, !connection.socket.hasInput(), !poller.isDraining else {
      return retire(connection)
    }
    if idle.count >= UpstreamPool.bufferedIdleLimit || connection.hasFilledBlock { connection.releaseInput() }
    connection.park(now: poller.now, timeout: settings.configuration.upstreamIdleTimeout)
    idle.append(connection)
    wakeNext()
  }

  /// Closes a connection that is not in `idle`: it was in use, or was just removed from there.
  func retire(_ connection: UpstreamConnection) {
    connection.close()
    established[ObjectIdentifier(connection)] = nil
    metrics.upstreamConnectionClosed()
    recordClosed()
  }

  /// Closes an idle connection.
  func discard(_ connection: UpstreamConnection) {
    guard let index = idle.firstIndex(where: { $0 === connection }) else { return }
    idle.remove(at: index)
    retire(connection)
  }

  /// Records that a connection was closed or could not be established.
  private func recordClosed() {
    open -= 1
    wakeNext()
  }

  /// Wakes the intercepted request that has waited longest. If none waits, wakes the passing request that has waited
  /// longest, if passing requests may use a connection now.
  private func wakeNext() {
    if !reservedQueue.isEmpty {
      reservedQueue.removeFirst().resume(.ready)
    } else if !queue.isEmpty, mayUseConnection(mayUseReserved: false) {
      queue.removeFirst().resume(.ready)
    }
  }

  /// Makes all later requests use only connections that are opened from now on.
  func startNewEpoch() {
    epoch += 1
    closeIdle()
  }

  /// Closes all idle connections.
  public func closeIdle() {
    while let connection = idle.popLast() { retire(connection) }
  }
}
