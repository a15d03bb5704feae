import HTTP
public import Proxy
import Reactor

/// A legacy server on a loopback port, on a thread of its own: the demo's, and the upstream of end-to-end tests.
public final class LegacyService: Sendable {
  private let server: Server
  private static let settings = ProxySettings(ProxyConfiguration())

  /// Binds a port of 127.0.0.1 and serves `legacy` there.
  ///
  /// - Parameter port: 0 lets the kernel choose.
  ///
  /// Throws `ServerError` when the port is in use.
  public init(_ legacy: LegacyAuthorizationServer, port: UInt16 = 0) async throws(ServerError) {
    let addresses = [Address(literal: "127.0.0.1", port: Int(port))].compactMap(\.self)
    // No request is ever forwarded, so nothing is ever resolved.
    let nowhere = Resolver(host: "127.0.0.1", port: 0)
    server = try await Server(workers: 1, addresses: addresses, threadName: "legacy") { worker in
      ProxyWorker(
        poller: worker.poller, resolver: nowhere, settings: LegacyService.settings, handler: LegacyHandler(legacy),
        metrics: Unmeasured())
    }
  }

  public var port: Int { server.addresses.first?.port ?? 0 }
  public var address: WebAddress { WebAddress(host: "127.0.0.1", port: port) }

  /// Serves another one from now on: one that knows the callback of a gateway that was started after this.
  public func serve(_ legacy: LegacyAuthorizationServer) async {
    await server.update { $0.adopt(LegacyService.settings, LegacyHandler(legacy)) }
  }

  /// Closes everything.
  public func stop() async {
    _ = await server.drain(delay: 0, timeout: 0, clock: .still)
  }
}
