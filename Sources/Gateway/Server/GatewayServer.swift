public import Policy
public import Proxy
import Reactor
public import Sealing
import Telemetry

/// The gateway on all of its workers.
public final class GatewayServer: Sendable {
  public let server: Server
  private let resources: GatewayResources
  private let workers: Int

  /// Binds the policy's listeners, starts the workers and accepts.
  ///
  /// Throws `ServerError` when an address cannot be bound.
  public init(policy: Policy, keyRing: KeyRing, workers: Int, resources: GatewayResources) async throws(ServerError) {
    self.resources = resources
    self.workers = workers
    let snapshot = GatewaySnapshot(policy: policy, keyRing: keyRing)
    let settings = snapshot.proxySettings(workers: workers)
    let resolver = Resolver(host: policy.upstream.origin.host, port: policy.upstream.origin.port)
    let addresses = policy.gateway.listeners.compactMap { listener in
      Address(literal: listener.address.host, port: listener.address.port)
    }
    let connections = ConnectionLimits()
    let proxyProtocol = Set(policy.gateway.listeners.indices.filter { policy.gateway.listeners[$0].proxyProtocol })
    server = try await Server(
      workers: workers, addresses: addresses, proxyProtocol: proxyProtocol, threadName: "worker"
    ) { worker in
      ProxyWorker(
        poller: worker.poller, resolver: resolver, settings: settings,
        handler: Gateway(snapshot, resources, worker: worker.index),
        metrics: GatewayMetrics(resources.metrics.workers[worker.index]), connections: connections)
    }
  }

  /// Gives every worker the new policy, between two of its requests. Requests in progress end under the old one.
  public func reload(policy: Policy, keyRing: KeyRing) async {
    let snapshot = GatewaySnapshot(policy: policy, keyRing: keyRing)
    let settings = snapshot.proxySettings(workers: workers)
    let resources = resources
    await server.perform { worker in
      worker.resident(ProxyWorker.self)?.adopt(settings, Gateway(snapshot, resources, worker: worker.index))
    }
  }
}
