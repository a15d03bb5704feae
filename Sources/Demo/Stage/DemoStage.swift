public import Gateway
import LegacyServer
import Policy
import Proxy
import Reactor
import Sealing
import TLS

/// The servers of the demo, each on a loopback port: the legacy server, the gateway and the native app.
public final class DemoStage {
  /// The participants of the story, with the addresses of the servers.
  public let participants: DemoStory.Participants
  private let legacy: LegacyService
  private let gateway: GatewayServer
  private let appService: DemoAppService

  /// Starts the servers. Throws `ServerError` if a server cannot listen, for example because `port` is in use.
  ///
  /// - Parameters:
  ///   - port: The gateway's port; 0 lets the kernel choose.
  ///   - extras: The participants in addition to the app.
  ///   - resources: The store, metrics and decision log of the gateway's only worker.
  public init(port: UInt16, extras: DemoExtras = [], resources: GatewayResources) async throws {
    // The legacy server and the gateway each need the port of the other. So both first listen with preliminary
    // settings, and get their final settings when both ports are known.
    let placeholder = LegacyAuthorizationServer(LegacyConfiguration(clients: []))
    legacy = try await LegacyService(placeholder)
    let keyRing = KeyRing.ephemeral(now: SystemClock.unixTime())
    let preliminaryPolicy = try DemoPolicy.make(gatewayPort: Int(port), upstreamPort: legacy.port, extras: extras)
    let tls = try GatewayTLS(preliminaryPolicy, tickets: TicketKeys())
    gateway = try await GatewayServer(
      policy: preliminaryPolicy, keyRing: keyRing, tls: tls, workers: 1, resources: resources)
    let gatewayPort = gateway.server.addresses.first?.port ?? 0
    let policy = try DemoPolicy.make(gatewayPort: gatewayPort, upstreamPort: legacy.port, extras: extras)
    await gateway.reload(GatewaySnapshot(policy: policy, keyRing: keyRing), tls: tls)

    let legacyClient = LegacyClient(
      id: DemoPolicy.legacyClientID, secret: DemoPolicy.legacyClientSecret, name: "The gateway",
      redirectURI: policy.callback)
    let recorder = RequestRecorder()
    await legacy.replaceServer(
      with: LegacyAuthorizationServer(LegacyConfiguration(clients: [legacyClient]), recorder: recorder))

    let gatewayAddress = WebAddress(host: "127.0.0.1", port: gatewayPort)
    let server = NativeApp.Server(
      authorizationEndpoint: gatewayAddress.at("/authorize"), tokenEndpoint: gatewayAddress.at("/token"),
      issuer: policy.gateway.issuer)
    let device = DemoDevice(
      clientID: DemoPolicy.deviceID, name: DemoPolicy.deviceName,
      deviceAuthorizationEndpoint: gatewayAddress.at(GatewaySettings.deviceAuthorizationPath),
      tokenEndpoint: server.tokenEndpoint)
    appService = try await DemoAppService(
      server: server, resource: gatewayAddress.at("/api/me"), device: extras.contains(.device) ? device : nil,
      agentIssuer: extras.contains(.agent) ? gatewayAddress : nil)
    participants = DemoStory.Participants(
      app: appService.app,
      otherApp: NativeApp(
        clientID: DemoPolicy.otherAppID, redirectURI: DemoPolicy.otherAppRedirectURI, server: server),
      device: appService.device, agent: appService.agent, resource: gatewayAddress.at("/api/me"),
      legacy: legacy.address, legacyClient: legacyClient, recorder: recorder)
  }

  /// The participants in addition to the app, for the introduction.
  private var extraNames: String {
    switch (participants.device, participants.agent) {
    case (nil, nil): ""
    case (_?, nil): ", with a device"
    case (nil, _?): ", with an agent"
    case (_?, _?): ", with a device and an agent"
    }
  }

  /// The text for the user, with the address at which to open the demo.
  public var introduction: String {
    """
    Open this in a browser: it is a small native app on this machine\(extraNames).

        http://127.0.0.1:\(appService.port)/

    It signs in at \(participants.app.server.authorizationEndpoint.origin), which is Proofgate. Behind it, at
    \(participants.legacy.origin), runs a legacy server that supports neither PKCE nor native apps.
    User name alice, password wonderland. Control-C ends the demo.

    """
  }
}
