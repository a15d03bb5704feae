import Reactor
import TLS
import Time

/// The ways to a new connection: look-up of the name, connect and TLS handshake.
extension UpstreamPool {
  /// The time between two attempts to connect to a Unix socket whose queue is full.
  private static let queuePause: Milliseconds = 5

  /// Opens a connection with a place that the caller has taken. After a failure, the place goes to the request that is
  /// next.
  func connect(_ client: ServerConnection) async throws(UpstreamFailure) -> UpstreamConnection {
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
      returnPlace()
      passOnPlace()
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

  /// Returns the address of the server at the other end of a connection.
  func name(of socket: Socket) -> String {
    switch location {
    case .unixSocket(let path): "unix:\(path)"
    case .name: socket.peerAddress?.description ?? ""
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
}
