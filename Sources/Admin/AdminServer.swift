public import Proxy
public import Reactor
public import TLS

/// The admin listener, on a thread of its own: it answers while every worker is busy or stalled.
public final class AdminServer: Sendable {
  private let server: Server

  /// Binds `address`, starts the thread `admin` and accepts.
  ///
  /// - Parameters:
  ///   - upstream: where readiness looks whether the upstream accepts connections.
  ///   - upstreamTLS: how the upstream is spoken to now; `nil` for plaintext.
  ///
  /// Throws `ServerError` when the address cannot be bound.
  public init(
    address: Address, status: ProcessStatus, upstream: Resolver,
    upstreamTLS: @escaping @Sendable () -> TLSClient? = { nil }
  ) async throws(ServerError) {
    server = try await Server(
      workers: 1, addresses: [address], descriptorReserve: AdminServer.descriptorReserve, threadName: "admin"
    ) { worker in
      ProxyWorker(
        poller: worker.poller, resolver: upstream, settings: ProxySettings(AdminServer.configuration),
        handler: AdminHandler(
          status, UpstreamProbe(worker.poller, upstream, tls: upstreamTLS), isLoopback: address.isLoopback),
        metrics: Unmeasured())
    }
  }

  /// What was bound, with the port that the kernel chose.
  public var address: Address? { server.addresses.first }

  /// Closes the listener and every connection.
  public func stop() async {
    _ = await server.drain(delay: 0, timeout: 0, clock: .still)
  }

  /// Fewer than clients leave: when they have taken all that they may, health and metrics are asked for most.
  private static let descriptorReserve = 32

  private static var configuration: ProxyConfiguration {
    var configuration = ProxyConfiguration()
    configuration.pseudonym = "proofgate-admin"
    return configuration
  }
}
