import Cryptography
public import Policy
public import Proxy
import Reactor
public import Sealing
import Synchronization
import TLS
import Telemetry
import Time

/// The gateway with all of its workers.
public final class GatewayServer: Sendable {
  /// The proxy, which owns the listeners and workers.
  public let server: ProxyServer
  private let resources: GatewayResources
  private let workers: Int
  /// The TLS settings of the first policy, for which the listeners were opened.
  private let initialTLS: GatewayTLS
  private let currentTLS: Mutex<CurrentTLS>
  /// The timers of connections from clients that the listening sockets have.
  private let timers: Mutex<TCPTimers>
  /// The listeners at which proxies check tokens (`resources[].check`), in the order of the policy.
  private let checks: [CheckListener]

  /// The TLS settings under the current policy.
  private struct CurrentTLS {
    /// The TLS server of each open listener; `nil` for a plaintext listener.
    var tlsServers: [TLSServer?]
    var upstreamCertificate: CertificateChain?
  }

  /// Opens the policy's listeners, starts the workers and accepts connections.
  ///
  /// - Parameters:
  ///   - upstream: The servers of the policy, if other parts of the process use them too.
  ///   - inherited: The sockets from the service manager.
  ///
  /// Throws `ServerError` if an address cannot be bound.
  public init(
    policy: Policy, keyRing: KeyRing, tls: GatewayTLS, workers: Int, resources: GatewayResources,
    upstream: UpstreamServers? = nil, inherited: InheritedListeners = InheritedListeners()
  ) async throws(ServerError) {
    self.resources = resources
    self.workers = workers
    initialTLS = tls
    currentTLS = Mutex(CurrentTLS(tlsServers: tls.tlsServers, upstreamCertificate: tls.upstreamCertificate))
    let snapshot = GatewaySnapshot(policy: policy, keyRing: keyRing)
    timers = Mutex(snapshot.clientTimers)
    let settings = snapshot.proxySettings(
      workers: workers, tlsServers: tls.tlsServers, upstream: tls.upstream, bufferMemory: resources.bufferMemory)
    let upstream = upstream ?? UpstreamServers(policy.upstream.locations)
    var listeners: [ListenerLocation] = []
    for listener in policy.gateway.listeners { listeners.append(try listener.location()) }
    let connections = ConnectionLimits()
    let permits = UpstreamPermits(workers: workers + policy.resources.all.count { $0.check != nil })
    let proxyProtocolListeners = Set(
      policy.gateway.listeners.indices.filter { policy.gateway.listeners[$0].proxyProtocol })
    server = try await ProxyServer(
      workers: workers, listeners: listeners, proxyProtocol: proxyProtocolListeners, inherited: inherited,
      threadName: "worker"
    ) { worker in
      resources.startStore?(worker)
      return ProxyWorker(
        poller: worker.poller, upstream: upstream, settings: settings,
        handler: Gateway(snapshot, resources, worker: worker.index),
        metrics: GatewayMetrics(resources.metrics.workers[worker.index], resources.notices, resources.upstreamWatch),
        connections: connections, permits: permits, on: worker,
        accessLog: resources.accessChannel(worker: worker.index, policy), checksHealth: worker.index == 0)
    }
    // A socket of the service manager keeps the options that its unit gives it.
    if snapshot.clientTimers != TCPTimers() {
      for listener in server.listeners { listener.setTimers(snapshot.clientTimers) }
    }
    checks = try await GatewayServer.checkListeners(
      snapshot, resources,
      settings: snapshot.proxySettings(
        workers: workers, tlsServers: [], upstream: tls.upstream, bufferMemory: resources.bufferMemory),
      permits, upstream, server, inherited)
  }

  /// Opens the listeners at which proxies check tokens. If an address cannot be bound, closes all listeners and throws.
  private static func checkListeners(
    _ snapshot: GatewaySnapshot, _ resources: GatewayResources, settings: CompiledProxyConfiguration,
    _ permits: UpstreamPermits, _ upstream: UpstreamServers, _ server: ProxyServer, _ inherited: InheritedListeners
  ) async throws(ServerError) -> [CheckListener] {
    var checks: [CheckListener] = []
    do throws(ServerError) {
      for resource in snapshot.policy.resources.all {
        if let check = try await CheckListener(
          resource, number: checks.count, snapshot, resources, settings: settings, permits: permits,
          upstream: upstream, inherited: inherited)
        {
          checks.append(check)
        }
      }
      return checks
    } catch {
      for check in checks { await check.stop() }
      _ = await server.drain(delay: 0, timeout: 0, clock: .notAdvancing)
      throw error
    }
  }

  /// The addresses at which proxies check tokens, in the order of the policy.
  public var checkAddresses: [Address] { checks.flatMap(\.server.addresses) }

  /// The sockets of all listeners.
  public var listeners: [BoundListener] { server.listeners + checks.flatMap(\.server.listeners) }

  /// Closes the listeners at which proxies check tokens. Call it after the workers have ended.
  ///
  /// - Parameter left: as for `ProxyServer.drain`.
  public func stopChecks(leaving left: Set<String> = []) async {
    for check in checks { await check.stop(leaving: left) }
  }

  /// Gives the new policy to every worker. Requests in progress finish under the old policy, and open connections keep
  /// the certificate with which they began.
  ///
  /// - Parameters:
  ///   - snapshot: The values of the new policy. The caller computes them on another thread, because the computation
  ///     takes long for a large policy.
  ///   - tls: The TLS settings of the new policy.
  public func reload(_ snapshot: GatewaySnapshot, tls: GatewayTLS) async {
    let tlsServers = currentTLS.withLock { currentTLS in
      currentTLS.tlsServers = initialTLS.tlsServersOfOpenListeners(preferring: tls, otherwise: currentTLS.tlsServers)
      currentTLS.upstreamCertificate = tls.upstreamCertificate
      return currentTLS.tlsServers
    }
    let settings = snapshot.proxySettings(
      workers: workers, tlsServers: tlsServers, upstream: tls.upstream, bufferMemory: resources.bufferMemory)
    let resources = resources
    let isChanged = timers.withLock { timers in
      defer { timers = snapshot.clientTimers }
      return timers != snapshot.clientTimers
    }
    if isChanged {
      for listener in server.listeners { listener.setTimers(snapshot.clientTimers) }
    }
    await server.perform { worker in
      worker.resident(ProxyWorker.self)?.adopt(
        settings, Gateway(snapshot, resources, worker: worker.index),
        accessLog: resources.accessChannel(worker: worker.index, snapshot.policy))
    }
    let checkSettings = snapshot.proxySettings(
      workers: workers, tlsServers: [], upstream: tls.upstream, bufferMemory: resources.bufferMemory)
    for check in checks { await check.reload(snapshot, resources, settings: checkSettings) }
  }

  /// The issuer in the upstream's metadata document, if a request has led to its reading.
  public var upstreamIssuer: UpstreamIssuer { UpstreamIssuer(resources.upstreamMetadata.document) }

  /// The certificates that the listeners present to clients, in the order of the listeners, followed by the certificate
  /// that the gateway presents to the upstream, if it has one.
  public var certificates: [ServedCertificate] {
    let (tlsServers, upstreamCertificate) = currentTLS.withLock { ($0.tlsServers, $0.upstreamCertificate) }
    let listenerCertificates = zip(server.names, tlsServers).flatMap { name, tls in
      (tls?.certificates ?? []).map { ServedCertificate(presentedOn: name, chain: $0) }
    }
    return listenerCertificates
      + (upstreamCertificate.map { [ServedCertificate(presentedOn: "upstream", chain: $0)] } ?? [])
  }
}
