import OAuth
import Policy
import Proxy
import Reactor
import Time

/// The listener at which a proxy in front of one resource checks tokens. It has its own thread.
final class CheckListener: Sendable {
  /// The identifier of the resource, by which a new policy finds its settings.
  private let resource: String
  private let address: SocketAddress
  /// The position among the listeners that check tokens, from 0.
  private let number: Int
  let server: ProxyServer

  /// Binds the address and accepts connections. Throws `ServerError` if the address cannot be bound.
  init?(
    _ resource: Resource, number: Int, _ snapshot: GatewaySnapshot, _ resources: GatewayResources,
    settings: CompiledProxyConfiguration, permits: UpstreamPermits, upstream: UpstreamServers,
    inherited: InheritedListeners
  ) async throws(ServerError) {
    guard let address = resource.check, let literal = Address(literal: address.host, port: address.port) else {
      return nil
    }
    let name = resource.uri.text
    self.resource = name
    self.address = address
    self.number = number
    server = try await ProxyServer(
      workers: 1, addresses: [literal], inherited: inherited, threadName: "check"
    ) { worker in
      resources.startStore?(worker)
      return ProxyWorker(
        poller: worker.poller, upstream: upstream, settings: settings,
        handler: CheckHandler(Gateway(snapshot, resources, check: number), snapshot.policy.resources[name]),
        metrics: NoMetrics(), permits: permits, on: worker)
    }
  }

  /// Gives the new policy to the listener. If the resource is gone or has another address, requests get 503 until the
  /// process restarts.
  func reload(_ snapshot: GatewaySnapshot, _ resources: GatewayResources, settings: CompiledProxyConfiguration) async {
    let (name, address, number) = (resource, address, number)
    await server.update { proxy in
      let current = snapshot.policy.resources[name].flatMap { $0.check == address ? $0 : nil }
      proxy.adopt(settings, CheckHandler(Gateway(snapshot, resources, check: number), current))
    }
  }

  /// Closes the listener and its connections.
  func stop(leaving left: Set<String> = []) async {
    _ = await server.drain(delay: 0, timeout: 0, leaving: left, clock: .notAdvancing)
  }
}
