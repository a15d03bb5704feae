internal import OAuth
internal import Policy
internal import RESP
internal import Reactor
internal import Synchronization
internal import TLS

/// Opens connections to the servers of the settings. All workers share one instance.
final class RedisServers: Sendable {
  private let settings: RedisSettings
  /// The TLS settings of each host, with the latest session.
  private let clients = Mutex<[String: TLSClient]>([:])
  /// The resolver of each host, which caches its addresses.
  private let resolvers = Mutex<[SocketAddress: Resolver]>([:])
  /// The index of the sentinel that answered last.
  private let sentinel = Atomic<Int>(0)
  /// The maximum number of hosts in `clients` and `resolvers`. Sentinels name few hosts.
  private static let maximumHosts = 64

  init(_ settings: RedisSettings) {
    self.settings = settings
  }

  /// Returns the endpoint of the primary. If the settings name sentinels, asks the sentinels for it.
  func primary(
    _ poller: Poller, _ waiter: Waiter, _ gate: HandshakeGate
  ) async throws(RedisFailure) -> RedisSettings.Endpoint {
    guard case .sentinels(let sentinels, let name) = settings.endpoint else { return settings.endpoint }
    let first = sentinel.load(ordering: .relaxed)
    var last = RedisFailure.unreachable("no sentinel")
    for offset in 0..<sentinels.count {
      let position = (first + offset) % sentinels.count
      let deadline = poller.deadline(after: RedisLimits.sentinelTimeout)
      do throws(RedisFailure) {
        let link = try await open(.server(sentinels[position]), poller, waiter, gate, until: deadline)
        defer { link.close() }
        let address = try await askSentinel(link, name, until: deadline)
        sentinel.store(position, ordering: .relaxed)
        return .server(address)
      } catch {
        last = error
      }
    }
    throw last
  }

  private func askSentinel(
    _ link: RedisLink, _ name: String, until deadline: Deadline
  ) async throws(RedisFailure) -> SocketAddress {
    var commands = [Words.text("SENTINEL", "get-master-addr-by-name", name)]
    if let password = settings.sentinelPassword { commands.insert(Words.text("AUTH", password.reveal()), at: 0) }
    let replies = try await link.exchange(commands, until: deadline)
    for reply in replies {
      if case .error(let text) = reply { throw RedisFailure(reply: text) }
    }
    switch replies.last {
    case .array(let parts):
      guard parts.count == 2, case .bytes(let host) = parts[0], case .bytes(let digits) = parts[1],
        let port = Int(String(decoding: digits, as: UTF8.self)), (1...65_535).contains(port)
      else { throw .unexpectedReply("of a sentinel") }
      return SocketAddress(host: String(decoding: host, as: UTF8.self), port: port)
    case .null: throw .misconfigured("the sentinels know no primary `\(name)`")
    default: throw .unexpectedReply("of a sentinel")
    }
  }

  /// Opens a connection, with TLS if the settings require it.
  func open(
    _ endpoint: RedisSettings.Endpoint, _ poller: Poller, _ waiter: Waiter, _ gate: HandshakeGate,
    until deadline: Deadline
  ) async throws(RedisFailure) -> RedisLink {
    let socket = try await connect(endpoint, poller, waiter, until: deadline)
    if settings.usesTLS, case .server(let address) = endpoint {
      do throws(RedisFailure) {
        try await performTLSHandshake(socket, address.host, waiter, gate, until: deadline)
      } catch {
        socket.close()
        throw error
      }
    }
    return RedisLink(socket, poller, waiter)
  }

  private func performTLSHandshake(
    _ socket: Socket, _ host: String, _ waiter: Waiter, _ gate: HandshakeGate, until deadline: Deadline
  ) async throws(RedisFailure) {
    let client = try client(for: host)
    do throws(TLSFailure) {
      try await client.connect(socket, with: waiter, gate: gate, until: deadline)
    } catch {
      if case .untrusted = error { throw .misconfigured("\(error)") }
      throw .unreachable("\(error)")
    }
  }

  private func client(for host: String) throws(RedisFailure) -> TLSClient {
    if let known = clients.withLock({ $0[host] }) { return known }
    guard let authorities = settings.authorities else { throw .misconfigured("no authorities for the store") }
    let client: TLSClient
    do throws(TLSError) {
      client = try TLSClient(name: host, authorities: authorities, applicationProtocols: [])
    } catch {
      throw .misconfigured("\(error)")
    }
    clients.withLock { clients in
      if clients.count >= RedisServers.maximumHosts { clients = [:] }
      clients[host] = client
    }
    return client
  }

  private func connect(
    _ endpoint: RedisSettings.Endpoint, _ poller: Poller, _ waiter: Waiter, until deadline: Deadline
  ) async throws(RedisFailure) -> Socket {
    switch endpoint {
    case .socket(let path):
      do throws(IOError) {
        return try poller.connect(toUnixSocket: path)
      } catch {
        throw .unreachable("cannot connect to \(path): \(error)")
      }
    case .server(let address):
      var last = RedisFailure.unreachable("\(address) has no address")
      for target in try await addresses(of: address, poller) {
        do throws(ConnectError) {
          return try await poller.connect(to: target, with: waiter, until: deadline)
        } catch {
          switch error {
          // `.clientDisconnected` does not occur, because the call of `connect` passes no `abandonedBy`.
          case .timedOut, .clientDisconnected: throw .unreachable("cannot connect to \(target): no reply in time")
          case .failed(let error): last = .unreachable("cannot connect to \(target): \(error)")
          }
        }
      }
      throw last
    // Not reached: `primary` replaces sentinels by the server that they name.
    case .sentinels: throw .unreachable("the sentinels name another sentinel")
    }
  }

  private func addresses(of endpoint: SocketAddress, _ poller: Poller) async throws(RedisFailure) -> [Address] {
    let resolver = resolvers.withLock { resolvers in
      if let known = resolvers[endpoint] { return known }
      if resolvers.count >= RedisServers.maximumHosts { resolvers = [:] }
      let resolver = Resolver(host: endpoint.host, port: endpoint.port)
      resolvers[endpoint] = resolver
      return resolver
    }
    do throws(ResolveError) {
      return try await resolver.resolve(on: poller)
    } catch {
      throw .unreachable("\(error)")
    }
  }
}
