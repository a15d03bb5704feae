import Enforcement
import Gateway
public import LegacyServer
import OAuth
public import Policy
import Proxy
public import Reactor
public import Sealing
public import Stores
import Synchronization
public import TLS
public import Telemetry
import Time

/// A gateway in front of the recording upstream for one test, in this process and on loopback ports that the kernel
/// chose.
///
///     try await GatewayFixture.run { gateway in
///       let answer = try await gateway.get(gateway.authorizationTarget())
///       #expect(answer.status == 302)
///     }
public final class GatewayFixture: Sendable {
  /// The recording upstream. A replica shares it, but may send its requests to another address.
  public let upstream: FixtureUpstream
  /// The sealing keys of the gateway.
  public let keyRing: KeyRing
  /// The store of the gateway's short-lived entries.
  public let store: any EphemeralStore
  /// The clock of the gateway; the upstream uses the real time.
  public let clock: FixtureClock
  /// The clock by which the gateway measures its work on expensive requests.
  public let workClock = WorkClock()
  /// The metrics of the gateway.
  public let metrics: MetricsRegistry
  let log: DecisionLog
  let logged = LoggedLines()
  private let told = Told()
  private let server: GatewayServer
  private let tickets = TicketKeys()
  private let current: Mutex<Policy>

  /// Runs `body` with a gateway and then stops everything.
  ///
  /// - Parameters:
  ///   - policy: By default that of the vectors at `https://gw.example`. Listeners and the upstream's address are
  ///     replaced; an `http` origin gets the port that was bound. With an `https` origin the requests of the fixture
  ///     come through a trusted proxy on loopback that terminates TLS and sends `X-Forwarded-Proto: https`. If the
  ///     policy's listener has TLS, the replacement has it too, and the requests of the fixture must use TLS. The same
  ///     holds for the PROXY protocol.
  ///   - quirks: The behaviour of the legacy server. It knows the upstream client of every client of the policy.
  ///   - keyRing: By default a new one.
  ///   - store: By default an empty one in memory.
  ///   - startStore: Prepares the store for use on each worker; `nil` if it needs no preparation.
  public static func run(
    _ policy: Policy? = nil, quirks: LegacyQuirks = LegacyQuirks(), workers: Int = 1, keyRing: KeyRing? = nil,
    store: (any EphemeralStore)? = nil, startStore: StartStore? = nil, upstreamTLS: TLSServer? = nil,
    _ body: (GatewayFixture) async throws -> Void
  ) async throws {
    await FixtureSlots.shared.take()
    let result = await outcome {
      try await runOnCurrentThread(
        policy, quirks: quirks, workers: workers, keyRing: keyRing, store: store, startStore: startStore, upstreamTLS,
        body)
    }
    await FixtureSlots.shared.giveBack()
    try result.get()
  }

  private static func runOnCurrentThread(
    _ policy: Policy?, quirks: LegacyQuirks, workers: Int, keyRing: KeyRing?, store: (any EphemeralStore)?,
    startStore: StartStore?, _ upstreamTLS: TLSServer?, _ body: (GatewayFixture) async throws -> Void
  ) async throws {
    let upstream = try await FixtureUpstream(tls: upstreamTLS)
    let result: Result<Void, any Error>
    do {
      let fixture = try await GatewayFixture(
        try policy ?? FixturePolicy.with(), upstream: upstream, workers: workers,
        keyRing: keyRing ?? KeyRing.ephemeral(now: SystemClock.unixTime()), store: store ?? MemoryStore(),
        startStore: startStore, clock: FixtureClock())
      upstream.serve(fixture.legacyServer(quirks))
      result = await outcome { try await body(fixture) }
      await fixture.stop()
    } catch {
      result = .failure(error)
    }
    await upstream.stop()
    return try result.get()
  }

  /// The upstream of a second gateway.
  public enum ReplicaUpstream: Sendable {
    /// The same recording upstream.
    case same
    /// An address on which no server listens.
    case dead
    /// A server that sends arbitrary bytes or nothing.
    case raw(RawUpstream)
  }

  /// A function that prepares a store for use on a worker.
  public typealias StartStore = @Sendable (isolated Worker) -> Void

  /// Runs `body` with a second gateway: a replica, with its own memory unless `sharesStore`, or with `store`.
  public func withReplica(
    keyRing: KeyRing? = nil, policy: Policy? = nil, upstream place: ReplicaUpstream = .same, sharesStore: Bool = false,
    store other: (any EphemeralStore)? = nil, startStore: StartStore? = nil,
    _ body: (GatewayFixture) async throws -> Void
  ) async throws {
    var changed = FixturePolicy(policy ?? self.policy)
    switch place {
    case .same: break
    // The recording upstream listens on 127.0.0.1 only.
    case .dead: changed.upstream.origin = Origin(scheme: .http, host: "127.0.0.2", port: upstream.port)
    case .raw(let raw): changed.upstream.origin = Origin(scheme: .http, host: "127.0.0.1", port: raw.port)
    }
    let replica = try await GatewayFixture(
      changed.policy, upstream: upstream, isPlaced: true, workers: 1, keyRing: keyRing ?? self.keyRing,
      store: other ?? (sharesStore ? store : MemoryStore()), startStore: startStore, clock: clock)
    let result = await GatewayFixture.outcome { try await body(replica) }
    await replica.stop()
    try result.get()
  }

  /// Runs `body` with a gateway whose upstream is a raw one.
  public static func run(
    before answer: RawUpstream.Answer, _ policy: Policy? = nil,
    _ body: (GatewayFixture, RawUpstream) async throws -> Void
  ) async throws {
    let raw = try await RawUpstream(answer)
    let result = await outcome {
      try await run(policy) { gateway in
        try await gateway.withReplica(upstream: .raw(raw)) { try await body($0, raw) }
      }
    }
    await raw.stop()
    try result.get()
  }

  private static func outcome(
    _ body: () async throws -> Void
  ) async -> Result<Void, any Error> {
    do {
      try await body()
      return .success(())
    } catch {
      return .failure(error)
    }
  }

  private init(
    _ policy: Policy, upstream: FixtureUpstream, isPlaced: Bool = false, workers: Int, keyRing: KeyRing,
    store: any EphemeralStore, startStore: StartStore? = nil, clock: FixtureClock
  ) async throws {
    self.upstream = upstream
    self.keyRing = keyRing
    self.store = store
    self.clock = clock
    metrics = MetricsRegistry(workers: workers, policyVersion: policy.version)
    log = DecisionLog(workers: workers, signal: NoSignal(), metrics: metrics) { 0 }
    let placed = GatewayFixture.placed(policy, port: nil, upstream: isPlaced ? nil : upstream)
    server = try await GatewayServer(
      policy: placed, keyRing: keyRing, tls: try GatewayTLS(placed, tickets: tickets), workers: workers,
      resources: GatewayResources(
        store: store, startStore: startStore, metrics: metrics, log: log, now: { clock.now },
        workClock: { [workClock] in workClock.read() },
        notice: { [told] text in told.value.withLock { $0.append(text) } }))
    current = Mutex(placed)
    // The port that an http origin must name is known only now.
    await reload(to: placed)
  }

  private func stop() async {
    _ = await server.server.drain(delay: 0, timeout: 0, clock: .notAdvancing)
    await server.stopChecks()
  }

  // MARK: Policy

  /// The policy in force.
  public var policy: Policy { current.withLock { $0 } }
  /// The TCP port of the gateway on 127.0.0.1, chosen by the kernel.
  public var port: Int { server.server.addresses.first?.port ?? 0 }
  /// The ports of the listeners that check tokens, in the order of the policy.
  public var checkPorts: [Int] { server.checkAddresses.map(\.port) }
  /// The address at which clients reach the gateway.
  public var front: WebAddress {
    let origin = policy.gateway.origin
    return WebAddress(isSecure: origin.scheme == .https, host: origin.host, port: origin.port)
  }

  /// Changes the policy in force, as SIGHUP does.
  public func reload(_ adjust: (inout FixturePolicy) -> Void) async {
    var next = FixturePolicy(policy)
    adjust(&next)
    await reload(to: next.policy)
  }

  private func reload(to policy: Policy) async {
    // Keeps the upstream's address, which a test may have changed on purpose, for example to a dead one.
    let placed = GatewayFixture.placed(policy, port: port, upstream: nil)
    guard let tls = try? GatewayTLS(placed, tickets: tickets) else { return }
    await server.reload(GatewaySnapshot(policy: placed, keyRing: keyRing), tls: tls)
    current.withLock { $0 = placed }
  }

  /// The policy with the addresses of this test.
  private static func placed(_ policy: Policy, port: Int?, upstream: FixtureUpstream?) -> Policy {
    var placed = FixturePolicy(policy)
    let listener = policy.gateway.listeners.first
    let tls = listener?.tls
    placed.gateway.listeners = [
      ListenerSettings(
        address: SocketAddress(host: "127.0.0.1", port: 0), tls: tls, proxyProtocol: listener?.proxyProtocol ?? false)
    ]
    if let upstream {
      let scheme: Origin.Scheme = placed.upstream.tls == nil ? .http : .https
      placed.upstream.origin = Origin(scheme: scheme, host: "127.0.0.1", port: upstream.port)
    }
    let origin = placed.gateway.origin
    if origin.scheme == .http, let port, origin.port != port {
      placed.gateway.origin = Origin(scheme: .http, host: origin.host, port: port)
      if placed.gateway.issuer == origin.description { placed.gateway.issuer = placed.gateway.origin.description }
    }
    if origin.scheme == .https, tls == nil, placed.gateway.trustedProxies.isEmpty {
      placed.gateway.trustedProxies = [
        AddressRange(network: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1], prefixLength: 128)
      ]
    }
    return placed.policy
  }

  /// A legacy server that knows the upstream client of every client, with one redirect URI each.
  public func legacyServer(_ quirks: LegacyQuirks) -> LegacyAuthorizationServer {
    var known: [String: LegacyClient] = [:]
    let clients = policy.clients.values.sorted { $0.id.rawValue < $1.id.rawValue }
    for client in clients where known[client.upstream.clientID.rawValue] == nil {
      let id = client.upstream.clientID.rawValue
      let redirectURI =
        switch client.upstream.redirectURI {
        case .callback: policy.callback
        case .requested: client.redirectURIs.first?.text ?? policy.callback
        case .fixed(let text): text
        }
      known[id] = LegacyClient(
        id: id, secret: client.upstream.clientSecret?.reveal() ?? "\(id)secret", name: "Upstream \(id)",
        redirectURI: redirectURI)
    }
    for client in policy.resources.upstreamClients {
      let id = client.clientID.rawValue
      known[id] = LegacyClient(
        id: id, secret: client.clientSecret?.reveal() ?? "\(id)secret", name: "Upstream \(id)",
        redirectURI: policy.callback)
    }
    let endpoints = policy.upstream.endpoints
    let paths = LegacyPaths(
      authorization: Set(endpoints.authorization), token: Set(endpoints.token), revocation: Set(endpoints.revocation),
      deviceAuthorization: Set(endpoints.deviceAuthorization))
    return LegacyAuthorizationServer(
      LegacyConfiguration(clients: Array(known.values), quirks: quirks, paths: paths))
  }

  // MARK: Notices and log

  /// The notices to the operator. Waits until there are `count` lines, for up to a minute: other threads write them.
  public func notices(_ count: Int) async throws -> [String] {
    for _ in 0..<6_000 {
      let lines = told.value.withLock { $0 }
      if lines.count >= count { return lines }
      try await Task.sleep(for: .milliseconds(10))
    }
    return told.value.withLock { $0 }
  }

  private final class Told: Sendable {
    let value = Mutex<[String]>([])
  }

  /// The decision log so far, one JSON line per record.
  public var logLines: [String] {
    // Runs the writer on this thread: it writes all waiting records and returns.
    log.stop()
    log.start(sink: logged) { $0() }
    return logged.lines
  }

  /// A log sink in memory. Its copies share one text.
  public struct LoggedLines: LogSink, Sendable {
    private let text = Shared()

    private final class Shared: Sendable {
      let value = Mutex("")
    }

    /// The lines so far, without their ends.
    public var lines: [String] { text.value.withLock { $0.split(separator: "\n").map(String.init) } }

    /// Appends the bytes. Always succeeds.
    public mutating func write(_ bytes: [UInt8]) -> Bool {
      text.value.withLock { $0 += String(decoding: bytes, as: UTF8.self) }
      return true
    }

    /// Does nothing, because no file is open.
    public mutating func reopen() {}
  }

  private struct NoSignal: WakeSignal {
    func signal() {}
    func wait() {}
  }
}
