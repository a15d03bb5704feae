import HTTP
public import Proxy
import Reactor
import Time

/// Runs a legacy server on a loopback port, on a separate thread. The demo and end-to-end tests use it as the upstream.
public final class LegacyService: Sendable {
  private let server: ProxyServer
  private static let settings = CompiledProxyConfiguration(ProxyConfiguration())

  /// Binds a port on 127.0.0.1 and serves `legacy` there.
  ///
  /// Throws `ServerError` if the server cannot listen, for example because the port is in use.
  ///
  /// - Parameter port: The port; 0 lets the kernel choose.
  public init(_ legacy: LegacyAuthorizationServer, port: UInt16 = 0) async throws(ServerError) {
    let addresses = [Address(literal: "127.0.0.1", port: Int(port))].compactMap(\.self)
    // The handler forwards no request, so the location is never used.
    let unused = ServerLocation.host("127.0.0.1", port: 0)
    server = try await ProxyServer(workers: 1, addresses: addresses, threadName: "legacy") { worker in
      ProxyWorker(
        poller: worker.poller, upstream: unused, settings: LegacyService.settings,
        handler: LegacyHandler(legacy), metrics: NoMetrics())
    }
  }

  /// The bound TCP port, 1 to 65535.
  public var port: Int { server.addresses.first?.port ?? 0 }
  /// The address of the path `/` on the server.
  public var address: WebAddress { WebAddress(host: "127.0.0.1", port: port) }

  /// Serves `legacy` from now on. The demo calls this when it knows the gateway's port, which is a part of the redirect
  /// URI of the legacy server's client.
  public func replaceServer(with legacy: LegacyAuthorizationServer) async {
    await server.update { $0.adopt(LegacyService.settings, LegacyHandler(legacy)) }
  }

  /// Closes the listener and all connections.
  public func stop() async {
    _ = await server.drain(delay: 0, timeout: 0, clock: .notAdvancing)
  }
}
