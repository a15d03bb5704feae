import Reactor
import TLS
import Time

/// The upstream connections of one worker: a stack of idle connections, and queues of the requests that wait because
/// all connections are in use. The workers of a process share the maximum number of connections (`UpstreamPermits`).
public final class UpstreamPool {
  let poller: Poller
  let servers: UpstreamServers
  let handshakes: HandshakeGate
  let metrics: any ProxyMetrics
  /// The part of this worker in the places for connections.
  let places: UpstreamPermits.Member
  var settings: CompiledProxyConfiguration {
    didSet { passingLimits = PassingLimits(settings) }
  }
  /// Computed once for the settings, because each passing request compares with these numbers.
  private(set) var passingLimits: PassingLimits
  var idle: [UpstreamConnection] = []
  /// The established connections, idle or in use, in no particular order.
  var established: [ObjectIdentifier: UpstreamConnection] = [:]
  /// The client addresses of the passing requests for which a connection is being established.
  private var connecting: [UInt64] = []
  /// The number of connections of this worker, idle or in use, including those being established.
  var open = 0
  /// A number that is incremented when the upstream TLS settings change. Connections of an earlier epoch are not reused
  /// for new requests.
  var epoch = 0
  /// The passing requests that wait for a connection.
  var queue: [Waiter] = []
  /// The intercepted requests that wait for a connection; some connections are reserved for them.
  var reservedQueue: [Waiter] = []
  /// The addresses of the upstream; empty while no name was resolved.
  var targets: [UpstreamTarget] = []
  /// The version of `targets` (`UpstreamServers.refresh`).
  var targetsVersion = -1
  /// The time at which the next request asks for changed addresses.
  var nextRefresh: MonotonicTime = 0
  /// Incremented when a request gets one of several addresses, so that addresses with equal load take turns.
  var nextChoice: Int
  /// The current or latest look-up of each name of the upstream, in the order of `UpstreamServers.locations`.
  var lookUps: [NameLookUp?]
  /// The maximum number of idle connections that keep their buffer for the next response.
  private static let bufferedIdleLimit = 64
  /// The number of connections opened since the start.
  public internal(set) var opened: UInt64 = 0

  init(
    _ poller: Poller, servers: UpstreamServers, settings: CompiledProxyConfiguration, handshakes: HandshakeGate,
    metrics: any ProxyMetrics, places: UpstreamPermits.Member
  ) {
    self.poller = poller
    self.handshakes = handshakes
    self.metrics = metrics
    self.servers = servers
    self.settings = settings
    self.places = places
    passingLimits = PassingLimits(settings)
    lookUps = Array(repeating: nil, count: servers.locations.count)
    // Workers begin with different addresses.
    nextChoice = places.index
  }

  struct PassingLimits {
    /// The number of connections that the passing requests of all workers may use.
    let connections: Int
    /// While at least this many connections of all workers are in use, few are free for passing requests: at most an
    /// eighth of `connections`, or at most one connection if an eighth is less.
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
  ///   - preference: the address that suits the request; has no effect if there is only one.
  func takeIdle(
    mayRepeat: Bool, mayUseReserved: Bool, preferring preference: AddressPreference = .none
  ) -> UpstreamConnection? {
    if poller.now >= nextRefresh { refreshTargets() }
    guard mayUseConnection(mayUseReserved: mayUseReserved) else { return nil }
    if targets.count > 1 {
      return takeIdleOfSeveral(mayRepeat: mayRepeat, mayUseReserved: mayUseReserved, preference)
    }
    while let connection = idle.popLast() {
      // The last connection was used most recently. If it has been idle for too long, so have all others.
      if !mayRepeat, isIdleForTooLong(connection) {
        idle.append(connection)
        return nil
      }
      connection.target.idle -= 1
      if let usable = use(connection, mayRepeat: mayRepeat, mayUseReserved: mayUseReserved) { return usable }
    }
    return nil
  }

  /// True if a request that must not be sent twice may not use the connection.
  func isIdleForTooLong(_ connection: UpstreamConnection) -> Bool {
    poller.now - connection.idleSince > settings.configuration.maximumIdleTimeIfNotRepeatable
  }

  /// Returns a connection that was removed from `idle`, in use; closes it and returns `nil` if it has unread input.
  @inline(__always)
  func use(_ connection: UpstreamConnection, mayRepeat: Bool, mayUseReserved: Bool) -> UpstreamConnection? {
    if mayUseReserved || !mayRepeat, connection.socket.inputHasArrived() {
      retire(connection)
      return nil
    }
    places.publish(inUse: inUse)
    connection.unpark()
    return connection
  }

  /// The number of connections of this worker that are in use or being established.
  var inUse: Int { open - idle.count }

  /// True if the request may use a connection now. Passing requests may not use the reserved connections. Requests of
  /// several workers at the same time may exceed this limit by their number.
  func mayUseConnection(mayUseReserved: Bool) -> Bool {
    mayUseReserved || places.openOfAll < passingLimits.connections || places.inUseOfAll < passingLimits.connections
  }

  // MARK: The share of an address

  /// True if few connections are free and the client's address already holds too many of the others, for its passing
  /// requests and for the responses that the gateway relays to it. Without this limit, one client that does not read its responses could keep all connections.
  ///
  /// While enough connections are free, no address is limited, so that many users behind one address are not refused.
  func holdsTooMany(_ client: ServerConnection) -> Bool {
    guard places.openOfAll >= passingLimits.fewAreFreeFrom, places.inUseOfAll >= passingLimits.fewAreFreeFrom,
      let address = client.limitedAddress
    else { return false }
    // The connections of an address are counted by each worker for itself.
    let limit =
      settings.configuration.limits.requestsPerAddress
      ?? max(ProxyLimits.minimumRequestsPerAddress, passingLimits.connections / 2 / places.workers)
    // Counted only while few connections are free. To keep a count for each address at all times would cost more,
    // because every request would have to update it.
    let held = established.values.reduce(0) { $1.holder == address ? $0 + 1 : $0 }
    return connecting.reduce(held) { $1 == address ? $0 + 1 : $0 } >= limit
  }

  /// True if a response to an intercepted request may keep its connection while the client reads it: the connection is
  /// none of the reserved ones, and the client's address does not hold too many.
  ///
  /// An intercepted request may take a reserved connection, because the upstream alone decides how long the request
  /// holds it. A client that does not read its response could hold it much longer.
  func mayKeepForRelay(to client: ServerConnection) -> Bool {
    // The connection itself is one of those in use.
    (places.openOfAll <= passingLimits.connections || places.inUseOfAll <= passingLimits.connections)
      && !holdsTooMany(client)
  }

  /// Returns an idle connection if the request may use it, otherwise a new one. Waits in a queue if all are in use.
  ///
  /// - Parameters:
  ///   - mayUseIdle: false to open a new connection in any case.
  ///   - mayRepeat: false if the request must not be sent twice.
  ///   - mayUseReserved: true if the request may use the reserved connections.
  ///   - preference: the address that suits the request; has no effect if there is only one.
  func take(
    mayUseIdle: Bool, mayRepeat: Bool, mayUseReserved: Bool = false, preferring preference: AddressPreference,
    for client: ServerConnection
  ) async throws(UpstreamFailure) -> UpstreamConnection {
    let queueDeadline = poller.deadline(after: settings.configuration.queueTimeout)
    while true {
      if mayUseConnection(mayUseReserved: mayUseReserved) {
        if mayUseIdle,
          let connection = takeIdle(
            mayRepeat: mayRepeat, mayUseReserved: mayUseReserved, preferring: preference)
        {
          return connection
        }
        if takePlace(mayUseReserved: mayUseReserved) { break }
        if let oldest = idle.first {
          // The maximum number of connections is open. One is idle but does not suit this request: replace it.
          removeIdle(at: 0)
          close(oldest)
          continue
        }
      }
      try await waitInQueue(client, mayUseReserved, until: queueDeadline)
    }
    guard !mayUseReserved, let address = client.limitedAddress else { return try await connect(client, preference) }
    connecting.append(address)
    defer { if let index = connecting.firstIndex(of: address) { connecting.remove(at: index) } }
    let connection = try await connect(client, preference)
    connection.holder = address
    return connection
  }

  /// Returns a connection to the pool. Its last response must be complete and allow another request.
  func giveBack(_ connection: UpstreamConnection) {
    // Close a connection that has bytes after the response or that the upstream has closed: the next request must not
    // use it.
    guard connection.input.isEmpty, connection.epoch == epoch, connection.mayServeMore(now: poller.now),
      !connection.socket.hasInput(), !poller.isDraining
    else { return retire(connection) }
    if places.othersWait, let next = places.next(hasConnection: true) {
      return giveBack(connection, to: next)
    }
    park(connection)
    wakeNext()
  }

  /// Lets another worker open a connection, in place of this one if not enough places are free.
  private func giveBack(_ connection: UpstreamConnection, to next: UpstreamPermits.Notification) {
    // A free place may be that of a connection that was closed just before for another waiting request. So each of them
    // needs a free place, or the last one would wait although this connection is idle.
    if places.freePlaces(of: settings.configuration.upstreamConnections) >= places.waitingElsewhere {
      park(connection)
      // The other worker takes the free place. The connection may serve a request that waits here.
      wakeNext()
    } else {
      close(connection)
    }
    next.send()
  }

  private func park(_ connection: UpstreamConnection) {
    if idle.count >= UpstreamPool.bufferedIdleLimit { connection.releaseInput() }
    connection.park(now: poller.now, timeout: settings.configuration.upstreamIdleTimeout)
    idle.append(connection)
    connection.target.idle += 1
    places.publish(inUse: inUse)
  }

  /// Closes a connection that is not in `idle`: it was in use, or was just removed from there. Its place goes to the
  /// request that is next.
  func retire(_ connection: UpstreamConnection) {
    close(connection)
    passOnPlace()
  }

  /// Closes an idle connection.
  func discard(_ connection: UpstreamConnection) {
    guard let index = idle.firstIndex(where: { $0 === connection }) else { return }
    removeIdle(at: index)
    retire(connection)
  }

  /// Removes a connection from `idle`.
  func removeIdle(at index: Int) {
    idle.remove(at: index).target.idle -= 1
  }

  /// Closes a connection that is not in `idle`, and gives its place back.
  func close(_ connection: UpstreamConnection) {
    connection.close()
    established[ObjectIdentifier(connection)] = nil
    connection.target.open -= 1
    connection.target.counters.countClosed()
    metrics.upstreamConnectionClosed()
    returnPlace()
  }

  /// Makes all later requests use only connections that are opened from now on.
  func startNewEpoch() {
    epoch += 1
    closeIdle()
  }

  /// Closes all idle connections.
  public func closeIdle() {
    while let connection = idle.last {
      removeIdle(at: idle.count - 1)
      retire(connection)
    }
  }
}
