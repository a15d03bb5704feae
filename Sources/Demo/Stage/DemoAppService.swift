import LegacyServer
import Proxy
import Reactor

/// Runs the demo's native app on a loopback port, on a separate thread.
final class DemoAppService {
  /// The app. Its redirect URI has the port that the kernel chose (RFC 8252, section 7.3).
  let app: NativeApp
  /// The device without a browser; `nil` if the demo has none.
  let device: DemoDevice?
  /// The agent, whose redirect URI is that of the app; `nil` if the demo has none.
  let agent: DemoAgent?
  let port: Int
  private let service: ProxyServer

  /// Throws `ServerError` if no port is available.
  ///
  /// - Parameters:
  ///   - resource: The address of the protected resource, behind the gateway.
  ///   - device: The device without a browser; `nil` for none.
  ///   - agentIssuer: The issuer at which the agent registers; `nil` for no agent.
  init(
    server: NativeApp.Server, resource: WebAddress, device: DemoDevice?, agentIssuer: WebAddress?
  ) async throws(ServerError) {
    let addresses = [Address(literal: "127.0.0.1", port: 0)].compactMap(\.self)
    let settings = CompiledProxyConfiguration(ProxyConfiguration())
    // The handler forwards no request, so the location is never used.
    let unused = ServerLocation.host("127.0.0.1", port: 0)
    // The redirect URI contains the port, which is known only when the server listens. Until then, the handler has an
    // app without a redirect URI. The call of `adopt` below replaces this handler.
    let placeholder = NativeApp(clientID: DemoPolicy.appID, redirectURI: "", server: server)
    service = try await ProxyServer(workers: 1, addresses: addresses, threadName: "app") { worker in
      ProxyWorker(
        poller: worker.poller, upstream: unused, settings: settings,
        handler: DemoAppHandler(placeholder, device: nil, agent: nil, resource, worker.poller), metrics: NoMetrics())
    }
    port = service.addresses.first?.port ?? 0
    let app = NativeApp(
      clientID: DemoPolicy.appID, redirectURI: "http://127.0.0.1:\(port)/callback", server: server)
    let agent = agentIssuer.map {
      DemoAgent(name: DemoPolicy.agentName, redirectURI: app.redirectURI, issuer: $0)
    }
    (self.app, self.device, self.agent) = (app, device, agent)
    await service.update {
      $0.adopt(settings, DemoAppHandler(app, device: device, agent: agent, resource, $0.poller))
    }
  }
}
