import Reactor
import TLS
import Time

/// The ways to a new connection: look-up of the names, connect and TLS handshake.
extension UpstreamPool {
  /// Opens a connection with a place that the caller has taken. After a failure, the place goes to the request that is
  /// next.
  func connect(
    _ client: ServerConnection, _ preference: AddressPreference
  ) async throws(UpstreamFailure) -> UpstreamConnection {
    do throws(UpstreamFailure) {
      let deadline = poller.deadline(after: settings.configuration.connectTimeout)
      if targets.isEmpty { try await findAddresses(for: client, until: deadline) }
      if hasOutdatedNames { try await renewAddresses(for: client, until: deadline) }
      let targets = order(preference)
      nextChoice &+= 1
      targets.first?.connecting += 1
      defer { targets.first?.connecting -= 1 }
      return try await connect(to: targets, for: client, until: deadline)
    } catch {
      returnPlace()
      passOnPlace()
      throw error
    }
  }

  private func connect(
    to targets: [UpstreamTarget], for client: ServerConnection, until deadline: Deadline
  ) async throws(UpstreamFailure) -> UpstreamConnection {
    let race = ConnectRace(self, targets, for: client, until: deadline)
    defer { race.close() }
    var handshakeFailure: UpstreamFailure?
    while true {
      let epoch = epoch
      let socket: Socket
      let target: UpstreamTarget
      do throws(UpstreamFailure) {
        (socket, target) = try await race.next()
      } catch {
        if case .clientGone = error { throw error }
        throw handshakeFailure ?? error
      }
      do throws(UpstreamFailure) {
        try await secure(socket, for: client, until: race.handshakeDeadline)
        if target.address.isOut { target.address.putBack(now: poller.now) }
        return establish(socket, target, epoch: epoch)
      } catch {
        if case .clientGone = error { throw error }
        noteConnectFailure(target)
        guard race.hasMore else { throw error }
        handshakeFailure = error
      }
    }
  }

  /// Adds an established connection, for which a place was taken, as one in use.
  func establish(_ socket: Socket, _ target: UpstreamTarget, epoch: Int) -> UpstreamConnection {
    opened += 1
    metrics.upstreamConnectionOpened()
    let timers = settings.configuration.upstreamTimers
    if timers != TCPTimers() { socket.setTimers(timers) }
    let connection = UpstreamConnection(socket, self, target, epoch: epoch)
    established[ObjectIdentifier(connection)] = connection
    return connection
  }

  /// Performs the TLS handshake: no request is sent before the server has proven its identity.
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

  // MARK: Names

  /// Waits until a name of the upstream has an address. The look-up counts against the deadline of the connect.
  private func findAddresses(for client: ServerConnection, until deadline: Deadline) async throws(UpstreamFailure) {
    refreshTargets()
    while targets.isEmpty {
      let running = lookUps.compactMap { $0 }
      for lookUp in running { lookUp.add(client.waiter) }
      let wake = await client.waiter.wait(client.socket, client.abandonment, until: deadline)
      for lookUp in running { lookUp.remove(client.waiter) }
      if client.isAbandoned { throw .clientGone(afterSending: false) }
      let allFailed = running.allSatisfy { $0.outcome != nil }
      if running.contains(where: { $0.hasAddresses }) { refreshTargets() }
      if !targets.isEmpty { return }
      if allFailed { throw .unreachable }
      if wake == .timedOut { throw .connectTimeout }
    }
  }

  /// True if a name was not looked up for so long that its addresses may be those of other machines.
  private var hasOutdatedNames: Bool {
    servers.locations.contains { location in
      if case .name(let resolver) = location { resolver.isOutdated(now: poller.now) } else { false }
    }
  }

  /// Waits for the look-up of outdated names, at most a second. Without an answer, the former addresses stay in use.
  private func renewAddresses(for client: ServerConnection, until deadline: Deadline) async throws(UpstreamFailure) {
    lookUpMissingNames()
    let end = min(deadline, poller.deadline(after: 1_000))
    var wake = Wake.ready
    while wake != .timedOut, !client.isAbandoned {
      let running = lookUps.compactMap { $0 }.filter { $0.outcome == nil && !$0.isLate }
      if running.isEmpty { break }
      for lookUp in running { lookUp.add(client.waiter) }
      wake = await client.waiter.wait(client.socket, client.abandonment, until: end)
      for lookUp in running {
        lookUp.remove(client.waiter)
        if wake == .timedOut { lookUp.isLate = true }
      }
    }
    if client.isAbandoned { throw .clientGone(afterSending: false) }
    refreshTargets()
  }

  /// Starts a look-up for each name without an answer or with an outdated one, unless one runs.
  func lookUpMissingNames() {
    for (index, location) in servers.locations.enumerated() {
      guard case .name(let resolver) = location,
        resolver.cachedAddresses(now: poller.now) == nil || resolver.isOutdated(now: poller.now)
      else { continue }
      if let lookUp = lookUps[index], lookUp.outcome == nil { continue }
      let lookUp = NameLookUp(resolver, poller)
      lookUps[index] = lookUp
      poller.start(lookUp)
    }
  }
}
