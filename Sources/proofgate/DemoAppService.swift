import LegacyServer
import Proxy
import Reactor

/// The demo's native app with its loopback port, on a separate thread.
final class DemoAppService {
  /// The app as it is registered, with the port that the kernel chose (RFC 8252, section 7.3).
  let app: NativeApp
  let port: Int
  private let service: Server

  /// Throws `ServerError` if no port is available.
  init(server: NativeApp.Server, resource: WebAddress) async throws(ServerError) {
    let addresses = [Address(literal: "127.0.0.1", port: 0)].compactMap(\.self)
    let settings = ProxySettings(ProxyConfiguration())
    let nowhere = Resolver(host: "127.0.0.1", port: 0)
    let unbound = NativeApp(clientID: DemoPolicy.appID, redirectURI: "", server: server)
    service = try await Server(workers: 1, addresses: addresses, threadName: "app") { worker in
      ProxyWorker(
        poller: worker.poller, resolver: nowhere, settings: settings,
        handler: DemoAppHandler(unbound, resource, worker.poller), metrics: Unmeasured())
    }
    port = service.addresses.first?.port ?? 0
    let app = NativeApp(
      clientID: DemoPolicy.appID, redirectURI: "http://127.0.0.1:\(port)/callback", server: server)
    self.app = app
    await service.update { $0.adopt(settings, DemoAppHandler(app, resource, $0.poller)) }
  }
}
