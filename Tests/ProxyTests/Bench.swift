import AccessLog
import Proxy
import Reactor
import Synchronization
import TLS
import Telemetry
import Testing
import Time

/// A proxy under test with a scripted upstream behind it and clients in front of it.
final class Bench {
  let server: ProxyServer
  let upstream: ScriptedUpstream
  let poller: Poller
  private var clients: [Peer] = []
  /// Connections that the listener's kernel has accepted or will accept, including closed ones.
  private var made = 0
  private var isDrained = false
  private var configuration: ProxyConfiguration

  private init(
    _ server: ProxyServer, _ upstream: ScriptedUpstream, _ poller: Poller, _ configuration: ProxyConfiguration
  ) {
    self.server = server
    self.upstream = upstream
    self.poller = poller
    self.configuration = configuration
  }

  /// The settings of a test's proxy and upstream.
  struct Setup: Sendable {
    var workers = 1
    var upstream = ScriptedUpstream.plain
    /// True if its listener expects the PROXY protocol.
    var proxyProtocol = false
    /// The proxy's name for its upstream, and the function that resolves it.
    var name: (host: String, ask: Resolver.LookUp)?
    /// The upstream's TLS; nil for plaintext.
    var upstreamTLS: TLSServer?
    var configure: @Sendable (inout ProxyConfiguration) -> Void = { _ in }
    var metrics: @Sendable () -> any ProxyMetrics = { CountedLimits() }
    /// The places of the proxy's servers, made from the address of the upstream; nil for this address alone.
    var servers: (@Sendable (Address) -> [ServerLocation])?
    /// The log with a line for each request, whose members are few; nil for none.
    var accessLog: AccessLog?

    /// Runs `body` on a worker for the peers. Afterwards the proxy must have nothing open or in use.
    func run(_ body: @escaping @Sendable (isolated Worker, Bench) async throws -> Void) async throws {
      try await Bench.run(self, body)
    }
  }

  private static func run(
    _ setup: Setup, _ body: @escaping @Sendable (isolated Worker, Bench) async throws -> Void
  ) async throws {
    // Both ends of every connection are in this process.
    Descriptors.raiseLimit()
    let peers = try Worker(index: 0)
    try peers.start(name: "peers")
    let task = await peers.launch { worker in
      let upstream = try ScriptedUpstream(on: worker, tls: setup.upstreamTLS, setup.upstream)
      let address = upstream.address
      var configuration = ProxyConfiguration()
      configuration.upstreamAuthority = "upstream.test"
      configuration.upstreamOrigins = ["http://upstream.test"]
      configuration.authority = "gateway.test"
      configuration.origin = "https://gateway.test"
      configuration.handlerCookie = "__Host-private"
      // Most tests of uploads need a server that sees a part of a body. `RequestBufferTests` has the others.
      configuration.limits.requestBuffer = 0
      configuration.earlyHints = true
      setup.configure(&configuration)
      let settings = CompiledProxyConfiguration(configuration)
      guard let any = Address(literal: "127.0.0.1", port: 0) else { return }
      let resolver =
        setup.name.map { Resolver(host: $0.host, port: address.port, lookUp: $0.ask) }
        ?? Resolver(host: address.host, port: address.port)
      let servers = UpstreamServers(
        setup.servers.map { $0(address) } ?? [.name(resolver)])
      let connections = ConnectionLimits()
      let permits = UpstreamPermits(workers: setup.workers)
      let members = AccessFields([.path, .query, .status, .reason, .referer, .userAgent])
      let server = try await ProxyServer(
        workers: setup.workers, addresses: [any], proxyProtocol: setup.proxyProtocol ? [0] : [], threadName: "proxy"
      ) { worker in
        ProxyWorker(
          poller: worker.poller, upstream: servers, settings: settings, handler: TestHandler(),
          metrics: setup.metrics(), connections: connections, permits: permits, on: worker,
          accessLog: setup.accessLog?.channel(worker: worker.index, AccessLogFormat(.json(members))),
          checksHealth: worker.index == 0)
      }
      let bench = Bench(server, upstream, worker.poller, configuration)
      do {
        try await body(worker, bench)
      } catch {
        Issue.record(error)
      }
      await bench.tearDown(workers: setup.workers)
      worker.stopAccepting()
    }
    let outcome = await task.result
    await peers.stop()
    try outcome.get()
  }

  private func tearDown(workers: Int) async {
    for client in clients { client.close() }
    if configuration.healthCheck != nil { await reload { $0.healthCheck = nil } }
    // A script that still waits when its loop is stopped would leak. More connections of the proxy may still arrive.
    await eventually("the upstream's scripts have ended") {
      upstream.closeAll()
      return upstream.running == 0
    }
    // The loops of a drained server have ended.
    if isDrained { return }
    await server.update { $0.pool.closeIdle() }
    await eventually("the proxy is empty") {
      let counters = await counters()
      return counters.connections == 0 && counters.open == 0 && counters.buffers == 0 && counters.sockets <= workers
    }
    for worker in server.group.workers {
      await worker.stopAccepting()
      await worker.stop()
    }
  }

  /// Returns the number of connections that were cut.
  func drain(timeout: Milliseconds, clock: WaitClock? = nil) async -> Int {
    isDrained = true
    return await server.drain(delay: 0, timeout: timeout, clock: clock ?? poller.waitClock)
  }

  func connect() async throws -> Peer {
    guard let address = server.addresses.first else { throw IOError.invalidArgument }
    let waiter = Waiter(poller)
    defer { waiter.cancelDeadline() }
    made += 1
    do {
      let client = Peer(try await poller.connect(to: address, with: waiter, until: poller.patience), poller)
      clients.append(client)
      return client
    } catch {
      made -= 1
      throw error
    }
  }

  /// True if a new connection is refused.
  func refuses() async -> Bool {
    do {
      _ = try await connect()
      return false
    } catch {
      return error is ConnectError
    }
  }

  /// Connects over TLS.
  func connect(_ tls: TLSClient) async throws -> Peer {
    let client = try await connect()
    let waiter = Waiter(poller)
    defer { waiter.cancelDeadline() }
    try await tls.connect(client.socket, with: waiter, gate: HandshakeGate(poller), until: poller.patience)
    return client
  }

  /// The reason why a connection over TLS fails; nil if it succeeds.
  func failure(_ tls: TLSClient) async -> TLSFailure? {
    do {
      _ = try await connect(tls)
      return nil
    } catch {
      return error as? TLSFailure
    }
  }

  /// Sends one request on a new connection and reads the response.
  func exchange(_ request: String, to method: String = "GET") async throws -> Message {
    let client = try await connect()
    try await client.send(request)
    let response = try await client.readResponse(to: method)
    client.close()
    return response
  }

  /// - Parameter fields: Lines without their line ends.
  func get(_ target: String, _ fields: String...) async throws -> Message {
    let lines = fields.map { "\($0)\r\n" }.joined()
    return try await exchange("GET \(target) HTTP/1.1\r\nHost: gateway.test\r\n\(lines)\r\n")
  }

  // MARK: Observations

  /// The number of times that a limit was reached.
  func count(_ limit: LimitKind) async -> Int {
    await sum { $0.counts[limit] ?? 0 }
  }

  /// The number of times that a listener of a worker has paused accepting.
  func pauses() async -> Int {
    await sum { $0.pauses }
  }

  private func sum(_ count: @escaping @Sendable (CountedLimits) -> Int) async -> Int {
    final class Sum: Sendable {
      let value = Atomic<Int>(0)
    }
    let sum = Sum()
    await server.update { proxy in
      let count = (proxy.metrics as? CountedLimits).map(count) ?? 0
      sum.value.wrappingAdd(count, ordering: .relaxed)
    }
    return sum.value.load(ordering: .relaxed)
  }

  /// The failures of the upstream that the proxy has counted.
  func failures() async -> [UpstreamFailure] {
    final class Found: Sendable {
      let value = Mutex<[UpstreamFailure]>([])
    }
    let found = Found()
    await server.update { proxy in
      let failures = (proxy.metrics as? CountedLimits)?.failures ?? []
      found.value.withLock { $0 += failures }
    }
    return found.value.withLock { $0 }
  }

  /// The statuses of the requests that have ended; 0 for one without a response.
  func statuses() async -> [Int] {
    final class Found: Sendable {
      let value = Mutex<[Int]>([])
    }
    let found = Found()
    await server.update { proxy in
      let statuses = (proxy.metrics as? CountedLimits)?.statuses ?? []
      found.value.withLock { $0 += statuses }
    }
    return found.value.withLock { $0 }
  }

  /// Reloads the proxy with changed settings.
  func reload(_ configure: (inout ProxyConfiguration) -> Void) async {
    configure(&configuration)
    let settings = CompiledProxyConfiguration(configuration)
    await server.update { $0.adopt(settings, $0.handler) }
  }

  struct Counters: Sendable {
    /// Connections of clients, including those that the kernel holds until a worker accepts them.
    var connections = 0
    var opened = 0
    var open = 0
    var idle = 0
    var buffers = 0
    var bufferBytes = 0
    var sockets = 0
  }

  /// Sums over all workers.
  func counters() async -> Counters {
    final class Sum: Sendable {
      let value = Mutex(Counters())
    }
    let sum = Sum()
    await server.update { proxy in
      sum.value.withLock { value in
        value.opened += Int(proxy.pool.opened)
        value.open += proxy.pool.openCount
        value.idle += proxy.pool.idleCount
        value.buffers += proxy.poller.buffers.inUse
        value.bufferBytes += proxy.poller.buffers.bytes
        value.sockets += proxy.poller.openSockets
      }
    }
    var counters = sum.value.withLock { $0 }
    // Read before `server.connections`, or a connection that is accepted in between would be missing.
    let accepted = server.group.workers.reduce(0) { $0 + Int($1.connections.accepted) }
    counters.connections = server.connections + made - accepted
    return counters
  }

  /// Waits until `condition` is true.
  func eventually(_ what: Comment, _ condition: () async -> Bool) async {
    let deadline = poller.patience
    let waiter = Waiter(poller)
    var turns = 0
    while !(await condition()) {
      // A timer is coarse: most conditions become true within a few turns of the loop.
      turns += 1
      if turns < 300 {
        await waiter.yield()
        continue
      }
      if poller.now > deadline {
        Issue.record("never: \(what)")
        return
      }
      await poller.pause(1)
    }
  }
}

extension Worker {
  /// Starts a task in the same way as a worker starts its own.
  func launch(_ body: @escaping @Sendable (isolated Worker) async throws -> Void) -> Task<Void, any Error> {
    Task.immediate { try await self.script(body) }
  }

  private func script(_ body: @Sendable (isolated Worker) async throws -> Void) async throws {
    try await body(self)
  }
}
