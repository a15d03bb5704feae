import Reactor

/// The upstream connections of one worker: idle ones last in first out, and a queue when all are in use.
public final class UpstreamPool {
  let poller: Poller
  private let resolver: Resolver
  var settings: ProxySettings
  private var idle: [UpstreamConnection] = []
  private var open = 0
  private var queue: [Waiter] = []
  /// So many idle connections keep their buffer for the next response.
  private static let buffered = 64
  public private(set) var opened: UInt64 = 0

  public init(_ poller: Poller, resolver: Resolver, settings: ProxySettings) {
    self.poller = poller
    self.resolver = resolver
    self.settings = settings
  }

  public var idleCount: Int { idle.count }
  public var openCount: Int { open }

  /// An idle connection, if there is one that is fit for the request: what must not be sent twice goes only on one that
  /// was used a moment ago.
  func takeIdle(isIdempotent: Bool) -> UpstreamConnection? {
    guard let connection = idle.popLast() else { return nil }
    // The last in is the youngest: when it is too old, all are.
    if !isIdempotent, poller.now - connection.idleSince > UInt64(settings.configuration.freshReuse) {
      idle.append(connection)
      return nil
    }
    connection.unpark()
    return connection
  }

  /// A connection: an idle one when the request may use it, else a new one, waiting in the queue when all are in use.
  func take(mayReuse: Bool, isIdempotent: Bool, _ waiter: Waiter) async throws(UpstreamFailure) -> UpstreamConnection {
    let queueDeadline = poller.deadline(after: settings.configuration.queueTimeout)
    while true {
      if mayReuse, let connection = takeIdle(isIdempotent: isIdempotent) { return connection }
      if open < settings.configuration.upstreamConnections { break }
      if let oldest = idle.first {
        // All connections stand, and one is idle but not fit for this request: replace it.
        discard(oldest)
        continue
      }
      queue.append(waiter)
      let wake = await waiter.sleep(until: queueDeadline)
      guard wake == .timedOut else { continue }
      // Woken in the same turn in which its time ran out: the free place was given to it, so it is taken all the same.
      guard let index = queue.firstIndex(where: { $0 === waiter }) else { continue }
      queue.remove(at: index)
      throw .busy
    }
    return try await connect(waiter)
  }

  private func connect(_ waiter: Waiter) async throws(UpstreamFailure) -> UpstreamConnection {
    open += 1
    let deadline = poller.deadline(after: settings.configuration.connectTimeout)
    let addresses: [Address]
    do throws(ResolveError) {
      addresses = try await resolver.resolve(on: poller)
    } catch {
      released()
      throw .unreachable
    }
    var isTimeout = false
    for address in addresses {
      do throws(ConnectError) {
        let socket = try await poller.connect(to: address, with: waiter, until: deadline)
        opened += 1
        return UpstreamConnection(socket, self)
      } catch {
        isTimeout = error == .timedOut
        if isTimeout { break }
      }
    }
    released()
    throw isTimeout ? .connectTimeout : .unreachable
  }

  /// Takes back a connection whose last response was whole and allows another.
  func giveBack(_ connection: UpstreamConnection) {
    // Bytes beyond the response, or an end already seen: nothing that a next request may meet.
    guard connection.input.isEmpty, !connection.socket.satisfies(.readable), !poller.isDraining else {
      return retire(connection)
    }
    if idle.count >= UpstreamPool.buffered { connection.releaseInput() }
    connection.park(now: poller.now, timeout: settings.configuration.upstreamIdleTimeout)
    idle.append(connection)
    wakeNext()
  }

  /// Closes a connection that was in use.
  func retire(_ connection: UpstreamConnection) {
    connection.close()
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
    if !queue.isEmpty { queue.removeFirst().resume(.ready) }
  }

  /// Closes all idle connections.
  public func closeIdle() {
    while let connection = idle.popLast() { retire(connection) }
  }
}
