public import Proxy
public import Reactor
public import TLS
import Time

/// The admin listener. It has its own thread, so that it answers while every worker is busy or stalled.
public final class AdminServer: Sendable {
  private let server: ProxyServer

  /// Binds `address`, starts the thread `admin` and accepts connections.
  ///
  /// - Parameters:
  ///   - status: The state of the process, which the listener shows.
  ///   - upstream: The servers of the upstream, for the readiness check.
  ///   - inherited: The sockets from the service manager.
  ///   - upstreamTLS: Returns the current TLS settings of the upstream; `nil` for plaintext.
  ///
  /// Throws `ServerError` if the address cannot be bound.
  public init(
    address: Address, status: ProcessStatus, upstream: UpstreamServers,
    inherited: InheritedListeners = InheritedListeners(),
    upstreamTLS: @escaping @Sendable () -> TLSClient? = { nil }
  ) async throws(ServerError) {
    server = try await ProxyServer(
      workers: 1, addresses: [address], inherited: inherited, descriptorReserve: AdminServer.descriptorReserve,
      threadName: "admin"
    ) { worker in
      // The worker forwards no request, so only the probe uses the servers.
      ProxyWorker(
        poller: worker.poller, upstream: upstream, settings: CompiledProxyConfiguration(AdminServer.configuration),
        handler: AdminHandler(
          status, UpstreamProbe(worker.poller, upstream, tls: upstreamTLS), worker.poller),
        metrics: NoMetrics())
    }
  }

  /// The bound address, with the port that the kernel chose if the configured port is 0.
  public var address: Address? { server.addresses.first }

  /// The sockets of the listener.
  public var listeners: [BoundListener] { server.listeners }

  /// Closes the listener and all its connections, without waiting for requests in progress.
  ///
  /// - Parameter left: as for `ProxyServer.drain`.
  public func stop(leaving left: Set<String> = []) async {
    // With both limits 0, `drain` does not wait, so it needs no clock that advances.
    _ = await server.drain(delay: 0, timeout: 0, leaving: left, clock: .notAdvancing)
  }

  /// The admin listener accepts connections only while more than this number of file descriptors are unused. The
  /// listeners for clients stop at a higher number, so that the admin listener still answers after they have stopped.
  private static let descriptorReserve = 32

  private static var configuration: ProxyConfiguration {
    var configuration = ProxyConfiguration()
    configuration.pseudonym = "proofgate-admin"
    return configuration
  }
}
