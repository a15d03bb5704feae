public import Gateway
import LegacyServer
import Policy
import Proxy
import Reactor
import Sealing
import TLS

/// The servers of the demo, each on a loopback port: the legacy server, the gateway and the native app.
public final class DemoStage {
  /// The participants of the story, with the ports of the servers.
  public let cast: DemoStory.Cast
  private let legacy: LegacyService
  private let gateway: GatewayServer
  private let app: DemoAppService

  /// Starts the servers. Throws `ServerError` if the port is in use.
  ///
  /// - Parameters:
  ///   - port: The gateway's port; 0 lets the kernel choose.
  ///   - resources: The store, metrics and decision log of the gateway's only worker.
  public init(port: UInt16, resources: GatewayResources) async throws {
    // The servers need the ports of each other. So they first bind their ports, and get their final settings later.
    let placeholder = LegacyAuthorizationServer(LegacyConfiguration(clients: []))
    legacy = try await LegacyService(placeholder)
    let keyRing = KeyRing.ephemeral(now: SystemClock.unixTime())
    let first = try DemoPolicy.make(gatewayPort: Int(port), upstreamPort: legacy.port)
    let tls = try GatewayTLS(first, tickets: TicketKeys())
    gateway = try await GatewayServer(policy: first, keyRing: keyRing, tls: tls, workers: 1, resources: resources)
    let bound = gateway.server.addresses.first?.port ?? 0
    let policy = try DemoPolicy.make(gatewayPort: bound, upstreamPort: legacy.port)
    await gateway.reload(GatewaySnapshot(policy: policy, keyRing: keyRing), tls: tls)

    let known = LegacyClient(
      id: DemoPolicy.legacyID, secret: DemoPolicy.legacySecret, name: "The gateway",
      redirectURI: policy.callback)
    let recorder = RequestRecorder()
    await legacy.serve(LegacyAuthorizationServer(LegacyConfiguration(clients: [known]), recorder: recorder))

    let front = WebAddress(host: "127.0.0.1", port: bound)
    let server = NativeApp.Server(
      authorizationEndpoint: front.at("/authorize"), tokenEndpoint: front.at("/token"), issuer: policy.gateway.issuer)
    app = try await DemoAppService(server: server, resource: front.at("/api/me"))
    cast = DemoStory.Cast(
      app: app.app, otherApp: NativeApp(clientID: DemoPolicy.otherID, redirectURI: DemoPolicy.otherURI, server: server),
      resource: front.at("/api/me"), legacy: legacy.address, legacyClient: known, recorder: recorder)
  }

  /// The text for the user, with the address at which to open the demo.
  public var introduction: String {
    """
    Open this in a browser: it is a small native app on this machine.

        http://127.0.0.1:\(app.port)/

    It signs in at \(cast.app.server.authorizationEndpoint.origin), which is Proofgate. Behind it, at
    \(cast.legacy.origin), runs a legacy server that supports neither PKCE nor native apps.
    User name alice, password wonderland. Control-C ends the demo.

    """
  }
}
