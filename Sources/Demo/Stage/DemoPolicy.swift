import OAuth
import Policy

/// The policy of the demo. An operator would write it as a file (see `policies/`).
public enum DemoPolicy {
  /// The version of the policy, for metrics.
  public static let version = "demo"
  /// The gateway's client id at the legacy server.
  static let legacyClientID = "legacy-web"
  static let legacyClientSecret = "the-gateway-keeps-this"
  static let appID = "demo-app"
  /// The client id that a thief presents with a code of `appID` (`DemoStory.Participants.otherApp`).
  static let otherAppID = "other-app"
  static let otherAppRedirectURI = "com.example.other:/callback"
  static let deviceID = "demo-device"
  static let deviceName = "Demo Television"
  static let agentName = "Demo Agent"

  /// Returns the policy for a gateway and an upstream on these ports of 127.0.0.1.
  static func make(gatewayPort: Int, upstreamPort: Int, extras: DemoExtras) throws(RedirectURIError) -> Policy {
    let origin = Origin(scheme: .http, host: "127.0.0.1", port: gatewayPort)
    let gateway = GatewaySettings(
      origin: origin, issuer: origin.description,
      listeners: [ListenerSettings(address: SocketAddress(host: "127.0.0.1", port: gatewayPort))], admin: nil)
    let upstream = UpstreamSettings(
      origin: Origin(scheme: .http, host: "127.0.0.1", port: upstreamPort),
      endpoints: EndpointPaths(authorization: ["/authorize"], token: ["/token"], revocation: ["/revoke"]))
    var clients = [
      try client(appID, "Demo App", ["http://127.0.0.1/callback", "com.example.demo:/callback"]),
      try client(otherAppID, "Other App", [otherAppRedirectURI]),
    ]
    if extras.contains(.device) { clients.append(device) }
    return Policy(
      gateway: gateway, upstream: upstream, unknownClients: .reject, mode: .enforce,
      clients: Dictionary(uniqueKeysWithValues: clients.map { ($0.id, $0) }),
      registration: extras.contains(.agent) ? registration : nil, version: version)
  }

  /// The gateway's client at the legacy server, which all clients share.
  private static var upstreamClient: UpstreamClient {
    UpstreamClient(
      clientID: ClientID(legacyClientID), clientSecret: Secret(legacyClientSecret), authentication: .basic,
      redirectURI: .callback)
  }

  private static var device: Client {
    var settings = ClientSettings(
      id: ClientID(deviceID), name: deviceName, kind: .public, application: .device, redirectURIs: [],
      consent: .gateway, upstream: upstreamClient)
    settings.grants = [.deviceCode, .refreshToken]
    return Client(settings)
  }

  /// The limits for agents: loopback redirect URIs and the scope `profile`.
  private static var registration: RegistrationSettings {
    var settings = RegistrationSettings()
    settings.upstream = upstreamClient
    settings.scopes = ["profile"]
    settings.redirects.loopback = true
    return settings
  }

  private static func client(_ id: String, _ name: String, _ uris: [String]) throws(RedirectURIError) -> Client {
    var redirectURIs: [RedirectURI] = []
    for uri in uris { redirectURIs.append(try RedirectURI(parsing: uri)) }
    return Client(
      ClientSettings(
        id: ClientID(id), name: name, kind: .public, application: .native, redirectURIs: redirectURIs,
        consent: .gateway, upstream: upstreamClient))
  }
}
