import HTTP
public import Proxy
import Reactor

/// A legacy server on a loopback port, on a separate thread: for the demo, and as upstream of end-to-end tests.
public final class LegacyService: Sendable {
  private let server: Server
  private static let settings = ProxySettings(ProxyConfiguration())

  /// Binds a port of 127.0.0.1 and serves `legacy` on it.
  ///
  /// Throws `ServerError` if the port is in use.
  ///
  /// - Parameter port: The port; 0 lets the kernel choose.
  public init(_ legacy: LegacyAuthorizationServer, port: UInt16 = 0) async throws(ServerError) {
    let addresses = [Address(literal: "127.0.0.1", port: Int(port))].compactMap(\.self)
    // No request is ever forwarded, so no name is ever resolved.
    let nowhere = Resolver(host: "127.0.0.1", port: 0)
    server = try await Server(workers: 1, addresses: addresses, threadName: "legacy") { worker in
      ProxyWorker(
        poller: worker.poller, resolver: nowhere, settings: LegacyService.settings, handler: LegacyHandler(legacy),
        metrics: Unmeasured())
    }
  }

  /// The bound TCP port, 1 to 65535.
  public var port: Int { server.addresses.first?.port ?? 0 }
  /// The root address of the server.
  public var address: WebAddress { WebAddress(host: "127.0.0.1", port: port) }

  /// Replaces the served server, for example by one that has the callback of a gateway that was started later.
  public func serve(_ legacy: LegacyAuthorizationServer) async {
    await server.update { $0.adopt(LegacyService.settings, LegacyHandler(legacy)) }
  }

  /// Closes the listener and all connections.
  public func stop() async {
    _ = await server.drain(delay: 0, timeout: 0, clock: .still)
  }
}
